//! Malicious and malformed input on every route of the API document: always a 4xx with a code, never a 5xx, and the
//! server keeps working.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

use super::ENGINE;
use super::ownership::routes;
use crate::agent_fixtures::{CALCULATOR, adder};
use crate::contract::{TurnEnd, assert_complete};
use crate::server::{TestServer, id_of};

/// Bodies that no route accepts.
fn bodies() -> Vec<(&'static str, Vec<u8>)> {
    let nested = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth)).into_bytes()
    };
    vec![
        ("not JSON", b"{".to_vec()),
        ("not text", b"\xff\xfe{}".to_vec()),
        ("a bare word", b"nonsense".to_vec()),
        ("a NUL", b"{\"message\":\"a\0b\",\"title\":\"a\0b\",\"name\":\"a\0b\"}".to_vec()),
        ("a lone surrogate", br#"{"message":"\ud800","title":"\udfff","name":"\ud800x"}"#.to_vec()),
        ("a list", b"[]".to_vec()),
        ("a number", b"1e999999999".to_vec()),
        ("deep lists", nested("[", "]", 100_000)),
        ("deep objects", nested("{\"a\":", "}", 10_000)),
        ("too many bytes", vec![b' '; (1 << 20) + 1]),
        ("wrong types", br#"{"message":{},"title":[],"name":1,"is_pinned":"yes","dry_run":"no","metadata":7}"#.to_vec()),
        ("huge numbers", br#"{"message":99999999999999999999999999999999,"title":1e400,"name":-1e400,"is_pinned":1e400,"dry_run":9e999}"#.to_vec()),
        ("unknown fields", br#"{"__proto__":{"admin":true},"user_id":"root"}"#.to_vec()),
        ("the same field twice", br#"{"message":1,"message":2,"title":1,"title":2,"name":1,"name":2,"is_pinned":1,"is_pinned":2,"dry_run":1,"dry_run":2}"#.to_vec()),
    ]
}

const IDS: &[&str] = &[
    "%00",
    "%ff%fe",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "'%20OR%201=1--",
    "%F0%9F%9B%9F",
    "%0d%0aset-cookie:x",
    "-1",
    "null",
    "%25s",
    "99999999999999999999999999",
];

/// The API key of the internal routes.
const KEY: &str = "key-of-the-services-0123456789abcdef";

/// A server with all routes enabled.
fn server() -> TestServer {
    TestServer::with(ENGINE, &[("CHAT_INTERNAL_API_KEY", KEY)])
}

/// Adds the key that a route requires, so that its body is read.
fn allowed(request: RequestBuilder, path: &str) -> RequestBuilder {
    match path.starts_with("/api/chat/operations/") || path == "/api/credits/grant" {
        true => request.header("x-api-key", KEY),
        false => request,
    }
}

/// Asserts that the response is a well-formed refusal and returns its status.
async fn refused(response: Response, what: &str) -> u16 {
    let status = response.status().as_u16();
    let text = response.text().await.expect("text");
    assert!((400..500).contains(&status), "{what}: {status} {text}");
    let body: Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{what}: {status} {text}"));
    let code = body["code"].as_str().or(body["detail"]["code"].as_str());
    assert!(
        code.is_some_and(|code| !code.is_empty()) && !body["detail"].is_null(),
        "{what}: {text}"
    );
    status
}

async fn assert_alive(server: &TestServer) {
    let session = server.session().await;
    let events = server.say(&session, "/stream count=2 size=5").await.all().await;
    assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".to_owned()));
    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
}

/// Routes that read a body.
async fn writing(server: &TestServer) -> Vec<(Method, String)> {
    let document = server.client.get(server.api("/openapi.json")).send().await.expect("an answer");
    let document: Value = document.json().await.expect("JSON");
    let all = routes(server).await.into_iter();
    let reading_bodies = all.filter(|(method, path)| {
        document["paths"][path][method.to_lowercase()].get("requestBody").is_some()
    });
    reading_bodies.map(|(method, path)| (method.parse().expect("a method"), path)).collect()
}

#[tokio::test]
async fn no_malformed_body_breaks_any_route() {
    let server = server();
    let session = server.session().await;
    let graph = server.post("/graphs", &adder("Adder", 1)).send().await.expect("an answer");
    let graph = id_of(graph).await;
    let routes = writing(&server).await;
    assert!(routes.len() >= 5, "{routes:?}");
    for (method, path) in routes {
        // Existing ids, so that the refusal is about the body.
        let real = path
            .replace("{session_id}", &session)
            .replace("{graph_id}", &graph)
            .replace("{block_id}", CALCULATOR);
        let url = format!("{}{real}", server.base());
        let send = async |media_type: &str, body: Vec<u8>| {
            let request = server
                .client
                .request(method.clone(), &url)
                .header("content-type", media_type)
                .body(body);
            allowed(request, &path).send().await.expect("an answer")
        };
        for (name, body) in bodies() {
            let status =
                refused(send("application/json", body).await, &format!("{method} {path}: {name}"))
                    .await;
            let expected: &[u16] = if name == "too many bytes" { &[413] } else { &[400, 422] };
            assert!(expected.contains(&status), "{method} {path}: {name}: {status}");
        }
        for media_type in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "a/b/c",
            "",
        ] {
            let status = refused(
                send(media_type, b"{}".to_vec()).await,
                &format!("{method} {path}: {media_type:?}"),
            )
            .await;
            assert_eq!(status, 415, "{method} {path}: {media_type:?}");
        }
    }
    assert_eq!(server.read_session(&session).await["messages"], serde_json::json!([]));
    assert_alive(&server).await;
}

#[tokio::test]
async fn no_malformed_id_breaks_any_route() {
    let server = server();
    let long = "x".repeat(4000);
    let all = routes(&server).await;
    for (method, path) in all.clone() {
        let Some((before, rest)) = path.split_once('{') else { continue };
        let (_, after) = rest.split_once('}').expect("a whole route");
        for id in IDS.iter().copied().chain([long.as_str()]) {
            let body = serde_json::json!({
                "message": "x", "title": "x", "is_pinned": true, "success": true,
            });
            let mut only = serde_json::json!({});
            let field = match after {
                "/complete" => "success",
                "/messages/pending" | "/stream" => "message",
                "/title" => "title",
                _ => "is_pinned",
            };
            only[field] = body[field].clone();
            let url = format!("{}{before}{id}{after}", server.base());
            // The client normalizes `..` in an address and may then request an existing route.
            let asked = reqwest::Url::parse(&url).expect("an address").path().to_owned();
            if !asked.starts_with(before) && all.contains(&(method.clone(), asked)) {
                continue;
            }
            let request =
                server.client.request(method.parse().expect("a method"), &url).json(&only);
            let response = allowed(request, &path).send().await.expect("an answer");
            // Nothing to resume is no error, even for an unknown session.
            if response.status() == 204 {
                assert_eq!((method.as_str(), after), ("GET", "/stream"), "{url}");
                continue;
            }
            let status = refused(response, &format!("{method} {url}")).await;
            assert!([400, 404, 405, 422].contains(&status), "{method} {url}: {status}");
        }
    }
    assert_alive(&server).await;
}

#[tokio::test]
async fn no_malformed_query_breaks_any_route() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    server.say(&session, "/stream count=3 size=5").await.all().await;
    let absurd = [
        "-1",
        "0",
        "99999999999999999999999",
        "1e3",
        "NaN",
        "%00",
        "",
        "0x10",
        "%ff",
        "1%20OR%201=1",
        "[]",
    ];
    for name in ["limit", "offset"] {
        for value in absurd.iter().filter(|value| !(name == "offset" && **value == "0")) {
            let response = server
                .get(&format!("/chat/sessions?{name}={value}"))
                .send()
                .await
                .expect("an answer");
            assert_eq!(refused(response, &format!("{name}={value}")).await, 422);
        }
    }
    for value in absurd {
        for query in [format!("limit={value}"), format!("before_sequence={value}")] {
            if query == "before_sequence=0" {
                continue;
            }
            let response = server
                .get(&format!("/chat/sessions/{session}?{query}"))
                .send()
                .await
                .expect("an answer");
            assert_eq!(refused(response, &query).await, 422);
        }
        // An invalid cursor is treated like an unknown one: a full replay.
        let path = format!("/chat/sessions/{session}/stream?last_message_id={value}");
        let response = server.get(&path).send().await.expect("an answer");
        if response.status() != 200 {
            assert_eq!(refused(response, &path).await, 422);
        }
    }
    for (name, value) in [
        ("last-event-id", &b"\xff\xfe"[..]),
        ("last-event-id", b"-5"),
        ("authorization", b"Bearer \xff"),
        ("cookie", b"\xff=\xff"),
        ("x-api-key", b"\xff"),
    ] {
        let request = server.get(&format!("/chat/sessions/{session}")).header(name, value);
        let status = request.send().await.expect("an answer").status();
        assert!(!status.is_server_error(), "{name}: {status}");
    }
    assert_alive(&server).await;
}

#[tokio::test]
async fn no_malformed_http_request_breaks_the_server() {
    let server = TestServer::start(ENGINE);
    let host = server.base().trim_start_matches("http://").to_owned();
    for request in [
        "\r\n\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET /health/live HTTP/9.9\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        format!("GET /health/live HTTP/1.1\r\nhost: {host}\r\nbad header\r\n\r\n"),
        format!("GET /health/live HTTP/1.1\r\nhost: {host}\r\nx: a\0b\r\n\r\n"),
        format!("GET /health/live HTTP/1.1\r\nhost: {host}\r\n{}\r\n", "x: y\r\n".repeat(200)),
        format!(
            "POST /api/chat/sessions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
        ),
        format!(
            "POST /api/chat/sessions HTTP/1.1\r\nhost: {host}\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{{}}"
        ),
        format!("POST /api/chat/sessions HTTP/1.1\r\nhost: {host}\r\ncontent-length: -1\r\n\r\n"),
    ] {
        let mut stream = super::connect(&server).await;
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await;
        let _ = tokio::io::AsyncWriteExt::shutdown(&mut stream).await;
        let (answer, _) = super::drain(&mut stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{request:?}: {answer}");
    }
    assert_alive(&server).await;
}
