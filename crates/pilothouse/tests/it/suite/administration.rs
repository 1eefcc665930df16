//! Running the server: the commands for operators, health, shutdown and restart.

use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::ENGINE;
use crate::events::{Ending, EventStream, text_of};
use crate::server::{TestServer, TestStorage, json_of};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn a_printed_token_is_accepted() {
    let server = super::auth::jwt_server(&[]);
    let output =
        server.command(&["token", "--user", "anna", "--hours", "1"]).output().expect("it runs");
    let token = stdout(&output).trim().to_owned();
    let made = server
        .client
        .post(server.api("/chat/sessions"))
        .bearer_auth(token)
        .send()
        .await
        .expect("an answer");
    assert_eq!(json_of(made).await["user_id"], "anna");
}

#[test]
fn migrate_reports_that_the_schema_is_up_to_date() {
    let storage = TestStorage::new(ENGINE);
    let migrate = || stdout(&storage.command(&[], &["migrate"]).output().expect("it runs"));
    assert!(migrate().contains("up to date"));
    assert!(migrate().contains("is up to date"));
}

#[tokio::test]
async fn health_and_metrics_answer() {
    let server = TestServer::start(ENGINE);
    for path in ["/health/live", "/health/ready"] {
        let response =
            server.client.get(format!("{}{path}", server.base())).send().await.expect("an answer");
        assert_eq!(json_of(response).await["status"], "ok");
    }
    let metrics =
        server.client.get(format!("{}/metrics", server.base())).send().await.expect("an answer");
    assert!(metrics.text().await.expect("text").contains("pilothouse_queue_depth 0"));
}

#[tokio::test]
async fn workers_serve_metrics_on_their_own_port() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let server = TestServer::with(ENGINE, &[("COPILOT_EXECUTOR_PORT", &port.to_string())]);
    let ask = async |path: &str| {
        let url = format!("http://127.0.0.1:{port}{path}");
        let response = server.client.get(url).send().await.expect("an answer");
        (response.status().as_u16(), response.text().await.expect("text"))
    };
    assert_eq!(ask("/health/live").await.0, 200);
    assert!(ask("/metrics").await.1.contains("copilot_executor_pool_size 5"));
    assert_eq!(ask("/api/chat/sessions").await.0, 404, "nothing else is there");
}

#[tokio::test]
async fn sigterm_breaks_streams_hands_turns_back_and_exits_in_time() {
    let mut server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=500 size=5 delay_ms=30").await;
    events.until("text-delta").await;
    let turn = events.headers["x-turn-id"].to_str().expect("text").to_owned();
    server.sigterm();
    let (_, ending) = events.rest().await;
    assert_eq!(ending, Ending::Broken, "a clean close would look like a complete answer");
    assert!(server.wait_for_exit(Duration::from_secs(9)).success());
    server.restart();
    let resumed =
        server.get(&format!("/chat/tasks/{turn}/stream")).send().await.expect("an answer");
    let mut resumed = EventStream::of(resumed);
    resumed.until("data-attempt").await;
    server.cancel(&session).await;
    assert_eq!(resumed.rest().await.1, Ending::Complete);
}

#[tokio::test]
async fn a_killed_server_continues_its_turn_after_a_restart() {
    let mut server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=50 size=5 delay_ms=20").await;
    let seen = events.until("text-delta").await;
    server.kill9();
    server.restart();
    let path = format!("/chat/sessions/{session}/stream");
    let rest = server
        .get(&path)
        .header("last-event-id", seen.id.to_string())
        .send()
        .await
        .expect("an answer");
    let rest = EventStream::of(rest).all().await;
    assert_eq!(rest[0].id, seen.id + 1, "nothing is lost or repeated");
    assert!(text_of(&rest).len() >= 250);
    let history: Value = server.read_session(&session).await;
    assert_eq!(history["chat_status"], "idle");
}

#[tokio::test]
async fn without_wake_ups_a_turn_still_runs() {
    let server =
        TestServer::with(ENGINE, &[("PILOTHOUSE_DEAF", "on"), ("SWEEP_INTERVAL_MS", "200")]);
    let session = server.session().await;
    let events = server.say(&session, "/stream count=5 size=5").await;
    assert_eq!(text_of(&events.all().await).len(), 25);
}

#[tokio::test]
async fn another_encryption_key_refuses_to_start() {
    let mut server =
        TestServer::with(ENGINE, &[("ENCRYPTION_KEY", "first-first-first-first-first-first")]);
    server.sigterm();
    assert!(server.wait_for_exit(Duration::from_secs(9)).success());
    server.set("ENCRYPTION_KEY", "other-other-other-other-other-other");
    let output =
        server.command(&["serve", "--port", "0"]).stderr(Stdio::piped()).output().expect("it runs");
    assert!(!output.status.success());
    assert!(stderr(&output).contains("the encryption key is not the one"), "{}", stderr(&output));
    server.set("ENCRYPTION_KEY", "first-first-first-first-first-first");
    server.restart();
    assert!(!server.session().await.is_empty());
}

#[tokio::test]
async fn no_secret_reaches_the_store_or_the_log() {
    let canary = "canary-canary-canary-canary-canary";
    let server = super::auth::jwt_server(&[
        ("RUST_LOG", "trace"),
        ("ENCRYPTION_KEY", canary),
        ("CHAT_INTERNAL_API_KEY", canary),
        ("ANTHROPIC_API_KEY", canary),
        ("CHAT_PROVIDER", "offline"),
    ]);
    let token = crate::tokens::token("anna");
    let made = server
        .post("/api-keys", &serde_json::json!({"name": "x"}))
        .bearer_auth(&token)
        .send()
        .await;
    let key = json_of(made.expect("an answer")).await["key"].as_str().expect("a key").to_owned();
    let session = server
        .post("/chat/sessions", &serde_json::json!({}))
        .header("x-api-key", &key)
        .send()
        .await;
    let session = crate::server::id_of(session.expect("an answer")).await;
    let body = serde_json::json!({"message": "whispered words"});
    let said = server
        .post(&format!("/chat/sessions/{session}/stream"), &body)
        .header("x-api-key", &key)
        .send()
        .await;
    EventStream::of(said.expect("an answer")).all().await;
    let log = server.log();
    for secret in [canary, &key, &token, crate::tokens::KEY, "whispered words"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "a secret is in the log");
    }
    let stored = server.stored();
    let keeps = |wanted: &str| {
        let wanted = wanted.as_bytes();
        stored.windows(wanted.len()).any(|window| window == wanted)
    };
    for secret in [canary, &key, &token] {
        assert!(!keeps(secret), "a secret is in the store");
    }
    assert!(keeps("whispered words"), "the search finds stored text");
}

#[tokio::test]
async fn closed_connections_leak_no_files() {
    let server = TestServer::start(ENGINE);
    let files =
        || std::fs::read_dir(format!("/proc/{}/fd", server.pid())).expect("it runs").count();
    server.session().await;
    let before = files();
    let address = server.base().trim_start_matches("http://").to_owned();
    for _ in 0..500 {
        drop(tokio::net::TcpStream::connect(&address).await.expect("a connection"));
    }
    let settled = async {
        while files() > before + 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), settled).await.expect("files are closed");
}
