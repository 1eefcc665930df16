//! Running it: start-up refusals, the commands for operators, health, shutdown and restart.

use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::events::{Ending, Events, text_of};
use crate::server::{TestServer, command, json_of};

fn run(environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let folder = TempDir::new().expect("a folder");
    run_in(folder.path(), environment, arguments)
}

fn run_in(folder: &std::path::Path, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let environment: Vec<_> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    command(folder, &environment, arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_bad_configuration_refuses_to_start_with_a_sentence() {
    for (environment, arguments, part) in [
        (&[("DATABASE_URL", "postgres://x")][..], &["serve"][..], "DATABASE_URL is set"),
        (&[("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", "short")], &["serve"], "openssl rand"),
        (&[], &["--host", "0.0.0.0"], "loopback address only"),
        (&[("PILOTHOUSE_PORT", "many")], &["serve"], "PILOTHOUSE_PORT (environment) must be"),
    ] {
        let output = run(environment, arguments);
        assert!(!output.status.success());
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

#[test]
fn files_are_read_and_the_environment_wins() {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(
        folder.path().join(".env"),
        "NUM_COPILOT_WORKERS=7\nCHAT_MAX_STEPS=8\nCHAT_MODELL=x\n",
    )
    .expect("written");
    std::fs::write(folder.path().join(".env.default"), "CHAT_MAX_STEPS=9\nCHAT_STREAM_TTL=10\n")
        .expect("written");
    let output = run_in(folder.path(), &[("NUM_COPILOT_WORKERS", "6")], &["doctor", "--port", "0"]);
    let shown = stdout(&output);
    let line = |name: &str| {
        let line = shown.lines().find(|line| line.trim_start().starts_with(name)).expect("shown");
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("NUM_COPILOT_WORKERS"), "6 environment");
    assert_eq!(line("CHAT_MAX_STEPS"), "8 .env");
    assert_eq!(line("CHAT_STREAM_TTL"), "10 .env.default");
    assert_eq!(line("PILOTHOUSE_PORT"), "0 command line");
    assert_eq!(line("CHAT_MAX_TOOL_CALLS"), "500 default");
    assert!(shown.contains("perhaps misspelt: CHAT_MODELL"));
    std::fs::write(folder.path().join(".env"), "not a line\n").expect("written");
    assert!(stderr(&run_in(folder.path(), &[], &["doctor"])).contains(".env has a line"));
}

#[test]
fn doctor_masks_secrets_and_fails_when_something_is_wrong() {
    let secret = "canary-canary-canary-canary-canary";
    let good =
        run(&[("JWT_VERIFY_KEY", secret), ("ENCRYPTION_KEY", secret)], &["doctor", "--port", "0"]);
    assert!(good.status.success(), "{}{}", stdout(&good), stderr(&good));
    assert!(!stdout(&good).contains("canary") && stdout(&good).contains("offline pilot"));
    let bad = run(
        &[("CHAT_BASE_URL", "http://127.0.0.1:9/v1"), ("CHAT_MODEL", "m")],
        &["doctor", "--port", "0"],
    );
    assert!(!bad.status.success());
    assert!(stdout(&bad).contains("Check CHAT_BASE_URL"), "{}", stdout(&bad));
}

#[tokio::test]
async fn a_printed_token_opens_the_door() {
    let server = crate::auth::jwt_server(&[]);
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
    assert!(stderr(&run(&[], &["token"])).contains("JWT_VERIFY_KEY, which is not set"));
}

#[test]
fn migrate_says_what_it_did() {
    let folder = TempDir::new().expect("a folder");
    assert!(stdout(&run_in(folder.path(), &[], &["migrate"])).contains("was created"));
    assert!(stdout(&run_in(folder.path(), &[], &["migrate"])).contains("is up to date"));
}

#[test]
fn a_second_process_on_the_same_data_is_refused() {
    let server = TestServer::start();
    let second =
        server.command(&["serve", "--port", "0"]).stderr(Stdio::piped()).output().expect("it runs");
    assert!(!second.status.success());
    assert!(stderr(&second).contains("another Pilothouse process is using"), "{}", stderr(&second));
}

#[tokio::test]
async fn health_and_metrics_answer() {
    let server = TestServer::start();
    for path in ["/health/live", "/health/ready"] {
        let response =
            server.client.get(format!("{}{path}", server.base())).send().await.expect("an answer");
        assert_eq!(json_of(response).await["status"], "ok");
    }
    let metrics =
        server.client.get(format!("{}/metrics", server.base())).send().await.expect("an answer");
    assert!(metrics.text().await.expect("text").contains("pilothouse_queue_depth 0"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let folder = TempDir::new().expect("a folder");
    for arguments in [["openapi"], ["doctor"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        // Closed before anything is printed: the first write finds nobody.
        drop(reader);
        let ran = command(folder.path(), &[], &arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .expect("it runs");
        let complaint = String::from_utf8_lossy(&ran.stderr);
        assert!(!complaint.contains("panicked"), "{arguments:?}: {complaint}");
        assert_ne!(ran.status.code(), Some(101), "{arguments:?}");
    }
}

#[tokio::test]
async fn the_workers_have_a_port_of_their_own_for_their_numbers() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let server = TestServer::with(&[("COPILOT_EXECUTOR_PORT", &port.to_string())]);
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
    let mut server = TestServer::start();
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
    let mut resumed = Events::of(resumed);
    resumed.until("data-attempt").await;
    server.cancel(&session).await;
    assert_eq!(resumed.rest().await.1, Ending::Complete);
}

#[tokio::test]
async fn a_killed_server_goes_on_where_it_was() {
    let mut server = TestServer::start();
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
    let rest = Events::of(rest).all().await;
    assert_eq!(rest[0].id, seen.id + 1, "nothing is lost or repeated");
    assert!(text_of(&rest).len() >= 250);
    let history: Value = server.read_session(&session).await;
    assert_eq!(history["chat_status"], "idle");
}

#[tokio::test]
async fn without_any_hint_everything_still_happens() {
    let server = TestServer::with(&[("PILOTHOUSE_DEAF", "on"), ("SWEEP_INTERVAL_MS", "200")]);
    let session = server.session().await;
    let events = server.say(&session, "/stream count=5 size=5").await;
    assert_eq!(text_of(&events.all().await).len(), 25);
}

#[tokio::test]
async fn another_encryption_key_refuses_to_start() {
    let mut server = TestServer::with(&[("ENCRYPTION_KEY", "first-first-first-first-first-first")]);
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
async fn no_secret_reaches_the_disk_or_the_log() {
    let canary = "canary-canary-canary-canary-canary";
    let server = crate::auth::jwt_server(&[
        ("RUST_LOG", "trace"),
        ("ENCRYPTION_KEY", canary),
        ("CHAT_INTERNAL_API_KEY", canary),
        ("ANTHROPIC_API_KEY", canary),
        ("CHAT_PROVIDER", "offline"),
    ]);
    let token = crate::auth::token("anna");
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
    Events::of(said.expect("an answer")).all().await;
    let log = server.log();
    for secret in [canary, &key, &token, crate::auth::KEY, "whispered words"] {
        assert!(!log.contains(secret), "a secret is in the log");
    }
    for secret in [canary, &key, &token] {
        assert!(!folder_contains(server.data(), secret.as_bytes()), "a secret is on the disk");
    }
    assert!(folder_contains(server.data(), b"whispered words"), "the search does find things");
}

fn folder_contains(folder: &std::path::Path, wanted: &[u8]) -> bool {
    std::fs::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            return folder_contains(&path, wanted);
        }
        let content = std::fs::read(&path).unwrap_or_default();
        content.windows(wanted.len()).any(|window| window == wanted)
    })
}

#[tokio::test]
async fn connections_that_come_and_go_leave_nothing_behind() {
    let server = TestServer::start();
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
    tokio::time::timeout(Duration::from_secs(10), settled).await.expect("files come back");
}
