//! The web page and the API document.

use std::collections::HashSet;
use std::process::Stdio;

use reqwest::{Client, Method, Response};
use serde_json::Value;

use super::ENGINE;
use crate::events::EventStream;
use crate::server::{Api, TestServer, refusal};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn get(server: &Api, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = server.client.get(format!("{}{path}", server.base()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.expect("an answer")
}

async fn document(server: &Api) -> String {
    let html = get(server, "/", &[]).await.text().await.expect("text");
    assert!(html.contains("id=\"root\""), "build the page first, with `make web`: {html}");
    html
}

/// The usual client decompresses responses and hides their encoding.
fn raw_client() -> Client {
    Client::builder().no_proxy().no_gzip().no_brotli().build().expect("a client")
}

/// The addresses of the document's own files.
fn files(html: &str) -> Vec<String> {
    let addresses = html.split(['"', '\'']).filter_map(|piece| piece.strip_prefix("./"));
    addresses.map(|address| format!("/{address}")).collect()
}

#[tokio::test]
async fn every_page_address_serves_the_document_with_a_strict_policy() {
    let server = TestServer::start(ENGINE);
    let html = document(&server).await;
    for path in ["/", "/copilot?sessionId=1", "/library/agents/1", "/marketplace/agent/a/b", "/ops"]
    {
        let response = get(&server, path, &[("accept", BROWSER)]).await;
        assert_eq!(response.status(), 200, "{path}");
        let headers = response.headers();
        let policy = headers["content-security-policy"].to_str().expect("text");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(headers["cache-control"], "no-cache");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
        assert!(headers.contains_key("permissions-policy"));
        assert_eq!(response.text().await.expect("text"), html, "{path}");
    }
    assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" onload="));
    for script in html.split("<script").skip(1) {
        assert!(script.contains("src="), "no inline script");
    }
    assert!(
        !html.contains("offline"),
        "the document is the same on every server; `/api/about` describes this one"
    );
}

#[tokio::test]
async fn the_files_of_the_page_are_compressed_and_cached() {
    let server = TestServer::start(ENGINE);
    let files = files(&document(&server).await);
    assert!(files.iter().any(|path| path.ends_with(".css")), "{files:?}");
    let raw = raw_client();
    for path in files {
        let unpacked = get(&server, &path, &[]).await.bytes().await.expect("bytes");
        let mut tags = HashSet::new();
        for encoding in ["br", "gzip", "identity"] {
            let asked = |method| {
                let request = raw.request(method, format!("{}{path}", server.base()));
                request.header("accept-encoding", encoding)
            };
            let file = asked(Method::GET).send().await.expect("an answer");
            assert_eq!(file.status(), 200, "{path}");
            let headers = file.headers().clone();
            let said = headers
                .get("content-encoding")
                .map_or("identity", |said| said.to_str().expect("text"));
            assert_eq!(said, encoding, "{path}");
            assert_eq!(headers["vary"], "accept-encoding", "{path}");
            let kept = headers["cache-control"].to_str().expect("text");
            assert_eq!(kept.contains("immutable"), path.starts_with("/assets/"), "{path}: {kept}");
            let bytes = file.bytes().await.expect("bytes");
            assert_eq!(bytes == unpacked, encoding == "identity", "{path}");
            assert!(encoding == "identity" || bytes.len() < unpacked.len(), "{path}");

            let head = asked(Method::HEAD).send().await.expect("an answer");
            for name in ["content-length", "content-encoding", "etag", "cache-control", "vary"] {
                assert_eq!(head.headers().get(name), headers.get(name), "{path}: {name}");
            }
            let again = asked(Method::GET).header("if-none-match", &headers["etag"]);
            let again = again.send().await.expect("an answer");
            assert_eq!(again.status(), 304, "{path}");
            assert_eq!(again.headers()["etag"], headers["etag"]);
            tags.insert(headers["etag"].clone());
        }
        assert_eq!(tags.len(), 3, "{path}: every encoding has its own tag");
    }
}

#[tokio::test]
async fn the_scripts_of_the_document_are_less_than_300_kilobytes() {
    let server = TestServer::start(ENGINE);
    // Further files that a browser fetches are measured in `web/e2e/first-load.e2e.ts`.
    let scripts = files(&document(&server).await).into_iter().filter(|path| path.ends_with(".js"));
    let mut bytes = 0;
    for path in scripts {
        let request = raw_client().head(format!("{}{path}", server.base()));
        let script = request.header("accept-encoding", "gzip").send().await.expect("an answer");
        let length = script.headers()["content-length"].to_str().expect("text");
        bytes += length.parse::<usize>().expect("a number");
    }
    assert!((1..300_000).contains(&bytes), "{bytes}");
}

#[tokio::test]
async fn missing_routes_are_reported_in_json_even_to_a_browser() {
    let server = TestServer::start(ENGINE);
    for path in ["/assets/gone-1234.js", "/api/nothing", "/api", "/health/nothing", "/metrics/x"] {
        let answer = refusal(get(&server, path, &[("accept", BROWSER)]).await).await;
        assert_eq!(answer, (404, "ROUTE_NOT_FOUND".into()), "{path}");
    }
    for path in ["/nothing", "/favicon.ico", "/assets/../../etc/passwd", "/%2e%2e/Cargo.toml"] {
        let answer = refusal(get(&server, path, &[("accept", "*/*")]).await).await;
        assert_eq!(answer, (404, "ROUTE_NOT_FOUND".into()), "{path}");
    }
    let posted = server.client.post(format!("{}/copilot", server.base()));
    let posted = posted.header("accept", BROWSER).send().await.expect("an answer");
    assert_eq!(refusal(posted).await, (404, "ROUTE_NOT_FOUND".into()));
}

#[tokio::test]
async fn the_api_document_equals_the_committed_one() {
    let server = TestServer::start(ENGINE);
    let printed = server.command(&["openapi"]).stdout(Stdio::piped()).output().expect("it runs");
    assert!(printed.status.success());
    let printed: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    let served = server.client.get(server.api("/openapi.json")).send().await.expect("an answer");
    let served: Value = served.json().await.expect("JSON");
    assert_eq!(served, printed);
    for schema in ["Chunk", "ToolResponse", "Problem"] {
        assert!(printed["components"]["schemas"].get(schema).is_some(), "{schema}");
    }
    assert_eq!(printed["info"]["title"], "Pilothouse");
    let mut names = Vec::new();
    for operation in printed["paths"]
        .as_object()
        .expect("paths")
        .values()
        .flat_map(|path| path.as_object().expect("methods").values())
    {
        names.push(operation["operationId"].as_str().expect("a name"));
        for response in operation["responses"].as_object().expect("responses").values() {
            assert!(response["description"].is_string(), "{operation}");
        }
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "every operation has a name of its own");
    let committed = include_str!("../../../../../docs/openapi.json");
    let committed: Value = serde_json::from_str(committed).expect("JSON");
    assert!(printed == committed, "docs/openapi.json is stale; regenerate it with `make gen`");
}

#[tokio::test]
async fn every_prompt_the_offline_pilot_suggests_works() {
    let server = TestServer::start(ENGINE);
    let suggested =
        server.client.get(server.api("/chat/suggested-prompts")).send().await.expect("an answer");
    let suggested: Value = suggested.json().await.expect("JSON");
    let themes = suggested["themes"].as_array().expect("themes");
    let prompts: Vec<&str> = themes
        .iter()
        .flat_map(|theme| theme["prompts"].as_array().expect("prompts"))
        .map(|prompt| prompt.as_str().expect("text"))
        .collect();
    assert!(!prompts.is_empty());
    for prompt in prompts {
        // A prompt may start an operation, which continues its session on its own.
        let session = server.session().await;
        let mut events = server.say(&session, prompt).await.all().await;
        let started = events.iter().map(|got| &got.chunk["output"]);
        let tasks: Vec<String> = started
            .filter(|output| output["type"] == "operation_started")
            .filter_map(|output| output["task_id"].as_str().map(str::to_owned))
            .collect();
        for task in tasks {
            let path = format!("/chat/tasks/{task}/stream");
            let followed = server.get(&path).send().await.expect("an answer");
            events.extend(EventStream::of(followed).all().await);
        }
        for got in events {
            assert!(
                got.chunk["type"] != "error" && got.chunk["output"]["type"] != "error",
                "{prompt}: {got:?}"
            );
        }
    }
}
