//! Invalid input: always a 4xx with a stable code, never a 5xx, and the server keeps working.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::ENGINE;
use crate::server::{TestServer, refusal};

async fn raw(
    server: &TestServer,
    path: &str,
    media_type: &str,
    body: impl Into<reqwest::Body>,
) -> (u16, String) {
    let request =
        server.client.post(server.api(path)).header("content-type", media_type).body(body);
    refusal(request.send().await.expect("an answer")).await
}

#[tokio::test]
async fn invalid_bodies_are_refused() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let stream = format!("/chat/sessions/{session}/stream");
    let json_type = "application/json";
    let deep = format!("{{\"message\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    let table: Vec<(Vec<u8>, u16, &str)> = vec![
        (b"{".to_vec(), 400, "INVALID_JSON"),
        (b"".to_vec(), 400, "INVALID_JSON"),
        (b"\xFF\xFE".to_vec(), 400, "INVALID_JSON"),
        (b"{\"message\":\"a\0b\"}".to_vec(), 400, "INVALID_JSON"),
        (br#"{"message":"\ud800"}"#.to_vec(), 400, "INVALID_JSON"),
        (br#"{"message":"x"} trailing"#.to_vec(), 400, "INVALID_JSON"),
        (br#"{"message":NaN}"#.to_vec(), 400, "INVALID_JSON"),
        (deep.into_bytes(), 400, "JSON_TOO_DEEP"),
        ("[".repeat(500_000).into_bytes(), 400, "JSON_TOO_DEEP"),
        (vec![b' '; 1024 * 1024 + 1], 413, "BODY_TOO_LARGE"),
        (b"[]".to_vec(), 422, "VALIDATION_ERROR"),
        (b"null".to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":"a\u0000b"}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (b"{}".to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":1}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":["x"]}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":"x","color":"red"}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":"x","user_id":"somebody"}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":"x","mode":"slow"}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":"x","context":{"a":1}}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":"x","is_user_message":false}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":"x","message_id":""}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":"x","message_id":"a\nb"}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"message":""}"#.to_vec(), 422, "MESSAGE_EMPTY"),
        (br#"{"message":" \n\t"}"#.to_vec(), 422, "MESSAGE_EMPTY"),
        (br#"{"messages":[]}"#.to_vec(), 422, "MESSAGE_EMPTY"),
        (br#"{"messages":1}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (br#"{"messages":[{"role":"user"}]}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (
            br#"{"messages":[{"role":"user","parts":[{"type":"file","url":"x"}]}]}"#.to_vec(),
            422,
            "UNSUPPORTED_MESSAGE_PART",
        ),
        (br#"{"messages":[],"trigger":"other"}"#.to_vec(), 422, "VALIDATION_ERROR"),
        (json!({"message": "x".repeat(64_001)}).to_string().into_bytes(), 422, "MESSAGE_TOO_LONG"),
        (
            json!({"message": "x", "message_id": "x".repeat(65)}).to_string().into_bytes(),
            422,
            "VALIDATION_ERROR",
        ),
        (
            json!({"message": "x", "file_ids": vec!["f"; 21]}).to_string().into_bytes(),
            422,
            "TOO_MANY_FILES",
        ),
    ];
    for (body, status, code) in table {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(
            raw(&server, &stream, json_type, body).await,
            (status, code.to_owned()),
            "{shown}"
        );
    }
    assert_eq!(raw(&server, &stream, "text/plain", "{\"message\":\"x\"}").await.0, 415);
    let messages = server.read_session(&session).await["messages"].clone();
    assert_eq!(messages, json!([]), "no message was stored");
}

#[tokio::test]
async fn the_longest_message_and_unusual_characters_are_accepted() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    for text in ["ä".repeat(64_000), "bidi \u{202e} emoji 🛟 \u{2028} \\u0000".to_owned()] {
        server.say(&session, &text).await.all().await;
    }
    let content = server.read_session(&session).await["messages"][2]["content"].clone();
    assert_eq!(content, "bidi \u{202e} emoji 🛟 \u{2028} \\u0000");
}

#[tokio::test]
async fn other_routes_refuse_invalid_input() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let title = format!("/chat/sessions/{session}/title");
    let patch = async |body: Value| {
        refusal(
            server.client.patch(server.api(&title)).json(&body).send().await.expect("an answer"),
        )
        .await
        .0
    };
    assert_eq!(patch(json!({"title": "  "})).await, 422);
    assert_eq!(patch(json!({"title": "x".repeat(201)})).await, 422);
    assert_eq!(patch(json!({"title": "x", "more": 1})).await, 422);
    assert_eq!(
        raw(&server, "/chat/sessions", "application/json", r#"{"color":"red"}"#).await.0,
        422
    );
    assert_eq!(raw(&server, "/api-keys", "application/json", r#"{"name":""}"#).await.0, 422);
    for path in [
        "/chat/sessions?limit=0",
        "/chat/sessions?limit=101",
        "/chat/sessions?limit=x",
        "/chat/sessions?offset=-1",
        "/chat/sessions?limit=1&limit=2",
        "/chat/sessions?search=",
        "/chat/sessions?search=%20%20",
        "/chat/sessions?search=a%00b",
    ] {
        let answer = refusal(server.get(path).send().await.expect("an answer")).await;
        assert_eq!(answer, (422, "VALIDATION_ERROR".into()), "{path}");
    }
    for query in ["?limit=201", "?limit=0", "?before_sequence=-1", "?before_sequence=x"] {
        let answer = server
            .get(&format!("/chat/sessions/{session}{query}"))
            .send()
            .await
            .expect("an answer");
        assert_eq!(answer.status(), 422, "{query}");
    }
    let long = server
        .get(&format!("/chat/sessions?x={}", "y".repeat(9000)))
        .send()
        .await
        .expect("an answer");
    assert_eq!(refusal(long).await, (414, "URI_TOO_LONG".into()));
    let method = server.client.put(server.api("/chat/sessions")).send().await.expect("an answer");
    assert_eq!(refusal(method).await, (405, "METHOD_NOT_ALLOWED".into()));
    let nowhere = server.get("/nowhere").send().await.expect("an answer");
    assert_eq!(refusal(nowhere).await, (404, "ROUTE_NOT_FOUND".into()));
}

#[tokio::test]
async fn huge_request_heads_are_refused() {
    let server = TestServer::start(ENGINE);
    let address = server.base().trim_start_matches("http://").to_owned();
    let mut socket = tokio::net::TcpStream::connect(&address).await.expect("a connection");
    let head = format!(
        "GET /health/live HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "y".repeat(100_000)
    );
    let _ = socket.write_all(head.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    let live = server
        .client
        .get(format!("{}/health/live", server.base()))
        .send()
        .await
        .expect("an answer");
    assert_eq!(live.status(), 200);
}

#[tokio::test]
async fn connections_over_the_cap_are_refused_and_health_still_answers() {
    let server = TestServer::with(ENGINE, &[("MAX_CONNECTIONS", "3")]);
    let address = server.base().trim_start_matches("http://").to_owned();
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(tokio::net::TcpStream::connect(&address).await.expect("a connection"));
    }
    let refused = server.get("/chat/sessions").send().await.expect("an answer");
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(refusal(refused).await, (503, "UNAVAILABLE".into()));
    let health = server
        .client
        .get(format!("{}/health/ready", server.base()))
        .send()
        .await
        .expect("an answer");
    assert_eq!(health.status(), 200);
    drop(held);
    let free = async {
        while server.get("/chat/sessions").send().await.expect("an answer").status() != 200 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), free)
        .await
        .expect("connections close");
}
