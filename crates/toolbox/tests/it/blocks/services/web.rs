//! Web requests, feeds and MCP tools.

use std::time::Duration;

use axum::body::{Body, Bytes};
use ports::block::{BlockContext, BlockError};
use serde_json::{Value, json};

use super::site::{ReceivedRequest, TestSite, answer, redirect};
use super::{Bench, one, pins};
use crate::blocks::Collected;

const JSON: &str = "application/json";

async fn site(responder: fn(&ReceivedRequest) -> axum::response::Response) -> (TestSite, Bench) {
    let site = TestSite::start(responder).await;
    let bench = Bench::with_egress(site.client.clone());
    (site, bench)
}

fn echo(request: &ReceivedRequest) -> axum::response::Response {
    match request.path.as_str() {
        "/echo" => {
            let header =
                |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
            let reply = json!({
                "method": request.method, "body": request.body, "type": header("content-type"), "key": header("x-key"),
            });
            answer(200, "application/json; charset=utf-8", reply.to_string())
        }
        "/words" => {
            answer(200, "text/plain; charset=latin1", Body::from(Bytes::from_static(b"caf\xe9")))
        }
        "/refuses" => answer(422, JSON, r#"{"why": "no"}"#),
        "/breaks" => answer(503, "text/plain", "later"),
        "/long" => answer(200, "text/plain", "x".repeat(5 * 1024 * 1024)),
        "/away" => {
            let host = request.headers["host"].to_str().expect("a host").replace("site.", "other.");
            redirect(
                if request.method == "GET" { 302 } else { 307 },
                &format!("http://{host}/echo"),
            )
        }
        _ => answer(204, JSON, ""),
    }
}

#[tokio::test]
async fn a_request_is_sent_as_described_and_its_response_emitted() {
    let (site, bench) = site(echo).await;
    let url = format!("{}/echo", site.url);
    let input = json!({ "url": url, "headers": { "X-Key": "secret" }, "body": { "a": [1, 2] } });
    let reply = json!({ "method": "POST", "body": "{\"a\":[1,2]}", "type": JSON, "key": "secret" });
    assert_eq!(bench.run("SendWebRequestBlock", input).await, one("response", reply));
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let outputs =
            bench.run("SendWebRequestBlock", json!({ "url": url, "method": method })).await;
        assert_eq!(outputs.expect("an answer")[0].1["method"], method);
    }
    let head = bench.run("SendWebRequestBlock", json!({ "url": url, "method": "HEAD" })).await;
    assert_eq!(head, one("response", Value::Null));
}

#[tokio::test]
async fn a_response_is_emitted_on_the_pin_of_its_status() {
    let (site, bench) = site(echo).await;
    for (path, pin, value) in [
        ("/words", "response", json!("café")),
        ("/nothing", "response", Value::Null),
        ("/refuses", "client_error", json!({ "why": "no" })),
        ("/breaks", "server_error", json!("later")),
    ] {
        let input = json!({ "url": format!("{}{path}", site.url), "method": "GET" });
        assert_eq!(bench.run("SendWebRequestBlock", input).await, one(pin, value), "{path}");
    }
    let long = json!({ "url": format!("{}/long", site.url), "method": "GET" });
    assert!(bench.failure("SendWebRequestBlock", long).await.contains("longer"));
}

#[tokio::test]
async fn files_are_sent_as_a_form() {
    let (site, bench) = site(echo).await;
    let input = json!({
        "url": format!("{}/echo", site.url), "json_format": false, "body": { "title": "Notes" },
        "files": ["data:text/plain;base64,SGVsbG8="], "files_name": "upload",
    });
    let outputs = bench.run("SendWebRequestBlock", input).await.expect("an answer");
    let body = outputs[0].1["body"].as_str().expect("a body");
    assert!(
        body.contains("name=\"title\"\r\n\r\nNotes\r\n") && body.contains("\r\n\r\nHello\r\n"),
        "{body}"
    );
    assert!(
        outputs[0].1["type"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("multipart/form-data; boundary="))
    );
    let as_json = json!({ "url": site.url, "files": ["data:,x"] });
    assert!(bench.failure("SendWebRequestBlock", as_json).await.contains("json_format"));
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect_to_another_site() {
    let (site, bench) = site(echo).await;
    let url = format!("{}/away", site.url);
    let input = json!({ "url": url, "method": "GET", "headers": { "X-Key": "secret" } });
    let outputs = bench.run("SendWebRequestBlock", input).await.expect("an answer");
    assert_eq!(outputs[0].1["key"], Value::Null);
    let input = json!({ "url": url, "body": { "a": 1 } });
    assert!(bench.failure("SendWebRequestBlock", input).await.contains("another site"));
    assert_eq!(site.paths(), ["GET /away", "GET /echo", "POST /away"]);
}

#[tokio::test]
async fn forbidden_requests_are_not_sent() {
    let (site, bench) = site(echo).await;
    for (input, part) in [
        (json!({ "url": "http://127.0.0.2/" }), "not allowed"),
        (json!({ "url": "http://169.254.169.254/latest/" }), "not allowed"),
        (
            json!({ "url": format!("{}/echo", site.url), "headers": { "Host": "inner.example" } }),
            "header",
        ),
    ] {
        assert!(bench.failure("SendWebRequestBlock", input).await.contains(part));
    }
    let dry = BlockContext { dry_run: true, ..bench.context() };
    let input = json!({ "url": format!("{}/echo", site.url) });
    assert!(bench.run_in(dry, "SendWebRequestBlock", input.clone()).await.is_err());
    assert!(
        bench
            .failure("SendAuthenticatedWebRequestBlock", input)
            .await
            .contains("Stored credentials")
    );
    assert!(site.paths().is_empty());
}

fn feed(request: &ReceivedRequest) -> axum::response::Response {
    let item = |n: usize, day: &str| {
        format!(
            "<item><title>Entry {n}</title><link>https://a.example/{n}</link><pubDate>{day}</pubDate></item>"
        )
    };
    let mut items =
        item(0, "Mon, 01 Jan 2024 00:00:00 GMT") + &item(1, "Sun, 21 Jun 2026 11:00:00 GMT");
    if request.before > 0 {
        items += &item(2, "Sun, 21 Jun 2026 12:00:30 GMT");
    }
    match request.path.as_str() {
        "/feed" => {
            answer(200, "application/rss+xml", format!("<rss><channel>{items}</channel></rss>"))
        }
        _ => answer(200, "text/html", "<html></html>"),
    }
}

#[tokio::test]
async fn a_feed_emits_recent_entries() {
    let (site, bench) = site(feed).await;
    let input = json!({ "rss_url": format!("{}/feed", site.url), "time_period": 120, "run_continuously": false });
    let outputs = bench.run("ReadRSSFeedBlock", input).await.expect("entries");
    assert_eq!(outputs.len(), 2);
    assert_eq!((outputs[0].0.as_str(), &outputs[0].1["title"]), ("entry", &json!("Entry 1")));
    assert_eq!((outputs[1].0.as_str(), &outputs[1].1[0]), ("entries", &outputs[0].1));
    let none = json!({ "rss_url": format!("{}/page", site.url), "run_continuously": false });
    assert!(bench.failure("ReadRSSFeedBlock", none).await.contains("No RSS or Atom feed"));
}

#[tokio::test]
async fn a_polled_feed_emits_each_entry_once_until_canceled() {
    let (site, bench) = site(feed).await;
    let input =
        json!({ "rss_url": format!("{}/feed", site.url), "time_period": 120, "polling_rate": 1 });
    let context = bench.context();
    let cancel = context.cancel.clone();
    let outputs = Collected::default();
    let Value::Object(input) = input else { panic!("an object") };
    let run = bench.block("ReadRSSFeedBlock").run(input, context, &outputs);
    let stop = async {
        while site.paths().len() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let both = async { tokio::join!(run, stop) };
    let (ended, ()) = tokio::time::timeout(Duration::from_secs(20), both).await.expect("it ends");
    assert_eq!(ended, Err(BlockError::Stopped));
    let outputs = outputs.0.into_inner().expect("the lock is not poisoned");
    let entries: Vec<&Value> = outputs
        .iter()
        .filter(|(pin, _)| pin == "entry")
        .map(|(_, entry)| &entry["title"])
        .collect();
    assert_eq!(entries, ["Entry 1", "Entry 2"]);
}

/// An MCP server: answers `initialize` with plain JSON, and calls with a stream that stays open.
fn mcp(request: &ReceivedRequest) -> axum::response::Response {
    let message: Value = serde_json::from_str(&request.body).expect("JSON");
    if request.path == "/closed" {
        return answer(401, "text/plain", "");
    }
    match message["method"].as_str().expect("a method") {
        "initialize" => {
            let capabilities =
                json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {} });
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": capabilities });
            let mut response = answer(200, JSON, reply.to_string());
            response.headers_mut().insert("mcp-session-id", "s-1".parse().expect("a value"));
            response
        }
        "notifications/initialized" => answer(202, "text/plain", ""),
        _ => {
            assert_eq!(request.headers["mcp-session-id"], "s-1");
            let params = &message["params"];
            let text =
                json!({ "tool": params["name"], "arguments": params["arguments"] }).to_string();
            let is_error = params["name"] == "broken";
            let result =
                json!({ "content": [{ "type": "text", "text": text }], "isError": is_error });
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            let event = format!("event: message\ndata: {reply}\n\n");
            let first =
                futures::stream::once(async { Ok::<_, std::io::Error>(Bytes::from(event)) });
            let open = futures::StreamExt::chain(first, futures::stream::pending());
            answer(200, "text/event-stream", Body::from_stream(open))
        }
    }
}

#[tokio::test]
async fn an_mcp_tool_is_called() {
    let (site, bench) = site(mcp).await;
    let input = json!({
        "server_url": format!("{}/mcp", site.url), "selected_tool": "weather", "tool_arguments": { "unit": "C" },
        "tool_input_schema": { "required": ["city"] }, "city": "Lisbon", "credentials": {},
    });
    let run = bench.run("MCPToolBlock", input.clone());
    let outputs = tokio::time::timeout(Duration::from_secs(10), run)
        .await
        .expect("it does not wait for the end of the stream");
    let reply = json!({ "tool": "weather", "arguments": { "unit": "C", "city": "Lisbon" } });
    assert_eq!(pins(&outputs.expect("a result")), json!([["result", reply]]));
    let change = |key: &str, value: Value| {
        let mut changed = input.clone();
        changed[key] = value;
        changed
    };
    for (input, part) in [
        (change("selected_tool", json!("broken")), "The tool failed"),
        (change("selected_tool", json!("")), "selected_tool"),
        (change("tool_input_schema", json!({ "required": ["day"] })), "day"),
        (change("server_url", json!(format!("{}/closed", site.url))), "credentials"),
    ] {
        let failure = bench.failure("MCPToolBlock", input).await;
        assert!(failure.contains(part), "{failure}");
    }
    let dry = BlockContext { dry_run: true, ..bench.context() };
    assert!(bench.run_in(dry, "MCPToolBlock", input).await.is_err());
}
