//! Setup of a distributed installation: refused configurations, `doctor`, roles, and the migration of an embedded
//! store.

mod database;
mod program;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::database::Database;
use self::program::{Program, RunningServer, client};

const KEY: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn incomplete_servers_and_roles_are_refused_with_a_message() {
    let folder = TempDir::new().expect("a folder");
    let half = Program::new(folder.path()).set("REDIS_URL", "redis://127.0.0.1:1").run(&["serve"]);
    assert!(
        !half.success && half.text_output.contains("DATABASE_URL (or DB_HOST) and RABBITMQ_URL")
    );
    let roles = Program::new(folder.path()).run(&["serve", "--role", "executor"]);
    assert!(
        !roles.success && roles.text_output.contains("with the embedded store one process has all")
    );
}

#[test]
fn doctor_reports_for_each_server_what_is_wrong_and_what_to_do() {
    // Accepts connections and never answers, like a firewall that drops packets.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = silent.local_addr().expect("an address");
    let folder = TempDir::new().expect("a folder");
    let started = Instant::now();
    let found = Program::new(folder.path())
        .set("DATABASE_URL", &format!("postgres://anna:canary@{silent}/chats"))
        .set("REDIS_URL", "redis://:canary@127.0.0.1:1/0")
        .set("RABBITMQ_URL", &format!("amqp://anna:canary@{silent}/%2f"))
        .run(&["doctor"]);
    assert!(started.elapsed() < Duration::from_secs(15), "each check is bounded");
    assert!(!found.success);
    for (name, part) in [
        ("Postgres", "no response within 3 s"),
        ("Redis", "Check that Redis runs"),
        ("RabbitMQ", "no firewall drops"),
    ] {
        let line = found.line(&format!("BAD   {name}"));
        assert!(line.contains(part), "{line}");
    }
    assert!(
        !found.text_output.contains("canary")
            && found.text_output.contains("postgres://anna:***@127.0.0.1")
    );
}

#[tokio::test]
async fn doctor_checks_the_servers_and_changes_nothing() {
    let (folder, database) = (TempDir::new().expect("a folder"), Database::create());
    let program = Program::new(folder.path()).on(&database);
    let before = program.run(&["doctor", "--port", "0"]);
    assert!(before.success, "{}", before.text_output);
    assert!(before.line("ok    Redis").contains("version"));
    assert!(before.line("ok    RabbitMQ").contains("quorum queues"));
    assert!(before.line("note  Schema").contains("pilothouse migrate"));
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(database.ask(tables).await, "0");
    assert!(program.run(&["migrate"]).text_output.contains("up to date"));
    assert!(program.run(&["doctor", "--port", "0"]).line("ok    Schema").contains("up to date"));
}

#[tokio::test]
async fn an_embedded_store_is_migrated_completely_and_its_turns_continue() {
    let (folder, database) = (TempDir::new().expect("a folder"), Database::create());
    let embedded = Program::new(folder.path()).set("ENCRYPTION_KEY", KEY);
    let server = RunningServer::start(&embedded, &["serve", "--port", "0", "--data", "old"]);
    let written = json!({"filename": "note.txt", "content": "kept"});
    let done = server.session().await;
    server.say(&done, &format!("/tool write_workspace_file {written}")).await.all().await;
    let history = server.get(&format!("/sessions/{done}")).await;
    let open = server.session().await;
    let mut stream = server.say(&open, "/stream count=40 size=5 delay_ms=50").await;
    stream.until("text-delta").await;
    drop((stream, server));

    let program = embedded.on(&database).set("PILOTHOUSE_DATA", "new");
    assert!(program.run(&["migrate"]).success);
    let copied = program.run(&["migrate", "--from", "old"]);
    assert!(copied.success, "{}", copied.text_output);
    assert!(copied.line("session ").contains(" 2 ") && copied.line("turn ").contains(" 2 "));
    assert!(
        copied
            .text_output
            .contains("Turns that have not ended and will continue when a server starts: 1.")
    );

    let server = RunningServer::start(&program, &["serve", "--port", "0"]);
    assert_eq!(server.get(&format!("/sessions/{done}")).await, history);
    let read = server.say(&done, "/tool read_workspace_file {\"path\":\"note.txt\"}").await;
    assert!(read.all().await.contains("kept"));
    let rest = server.follow(&open).await.all().await;
    assert!(rest.contains("data-attempt") && rest.contains("[DONE]"), "{rest}");
}

#[tokio::test]
async fn an_invalid_migration_is_refused_and_copies_nothing() {
    let (folder, database) = (TempDir::new().expect("a folder"), Database::create());
    let embedded = Program::new(folder.path()).set("ENCRYPTION_KEY", KEY);
    let program = embedded.clone().on(&database).set("PILOTHOUSE_DATA", "new");
    let refused = |program: &Program, part: &str| {
        let run = program.run(&["migrate", "--from", "old"]);
        assert!(
            !run.success && run.text_output.contains("Nothing was copied"),
            "{}",
            run.text_output
        );
        assert!(run.text_output.contains(part), "{part}: {}", run.text_output);
    };
    refused(&program, "no embedded store");
    let server = RunningServer::start(&embedded, &["serve", "--port", "0", "--data", "old"]);
    let session = server.session().await;
    server
        .say(&session, "/tool write_workspace_file {\"filename\":\"a\",\"content\":\"a\"}")
        .await
        .all()
        .await;
    refused(&program, "is in use");
    drop(server);
    refused(&embedded.clone().set("PILOTHOUSE_DATA", "new"), "DATABASE_URL, REDIS_URL");
    refused(&program, "run `pilothouse migrate` first");
    assert!(program.run(&["migrate"]).success);
    let other_key = "another key, and a long one at that";
    refused(&program.clone().set("ENCRYPTION_KEY", other_key), "ENCRYPTION_KEY is not the one");
    // The last step fails: the rows that were written before it must be rolled back.
    let taken = folder.path().join("new/workspaces/somebody");
    std::fs::create_dir_all(&taken).expect("made");
    refused(&program, "is not empty");
    let rows = "SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM segment)";
    assert_eq!(database.ask(rows).await, "0");
    std::fs::remove_dir(&taken).expect("removed");
    assert!(program.run(&["migrate", "--from", "old"]).success);
    refused(&program, "Postgres has data already");
}

#[tokio::test]
async fn each_role_serves_only_its_own_part() {
    let (folder, database) = (TempDir::new().expect("a folder"), Database::create());
    let program = Program::new(folder.path()).on(&database).set("COPILOT_EXECUTOR_PORT", "0");
    let api = RunningServer::start(&program, &["serve", "--role", "api", "--port", "0"]);
    let session = api.session().await;
    let mut stream = api.say(&session, "/stream count=3 size=5").await;
    let scheduler = RunningServer::start(&program, &["serve", "--role", "scheduler"]);
    for server in [&api, &scheduler] {
        let metrics = server.text("/metrics").await;
        assert!(metrics.contains("pilothouse_dependency_up{name=\"rabbitmq\"} 1"), "{metrics}");
        assert!(!metrics.contains("copilot_executor_pool_size"), "no worker is here");
    }
    let task = api.get(&format!("/sessions/{session}")).await;
    assert_eq!(task["chat_status"], "queued", "no executor runs yet");
    let executor = RunningServer::start(&program, &["serve", "--role", "executor"]);
    stream.until("text-delta").await;
    assert!(stream.all().await.contains("[DONE]"));
    for server in [&executor, &scheduler] {
        let ready: Value = serde_json::from_str(&server.text("/health/ready").await).expect("JSON");
        assert_eq!(ready, json!({"status": "ok"}));
        let chat = client().post(server.url("/api/chat/sessions")).send().await.expect("an answer");
        assert_eq!(chat.status().as_u16(), 404);
    }
}

#[tokio::test]
async fn readiness_names_the_unreachable_server_and_the_reason() {
    let (folder, database) = (TempDir::new().expect("a folder"), Database::create());
    let program = Program::new(folder.path()).on(&database).set("COPILOT_EXECUTOR_PORT", "0");
    let server = RunningServer::start(&program, &["serve", "--role", "api", "--port", "0"]);
    database.refuse_connections().await;
    let deadline = Instant::now() + Duration::from_secs(20);
    let ready = loop {
        let ready: Value = serde_json::from_str(&server.text("/health/ready").await).expect("JSON");
        if ready["status"] != "ok" || Instant::now() > deadline {
            break ready;
        }
    };
    assert_eq!(
        (&ready["status"], &ready["failing"]),
        (&json!("unavailable"), &json!(["postgres"]))
    );
    assert!(ready["reasons"]["postgres"].is_string(), "{ready}");
    assert_eq!(server.text("/health/live").await, "{\"status\":\"ok\"}");
    let metrics = server.text("/metrics").await;
    assert!(metrics.contains("pilothouse_dependency_up{name=\"postgres\"} 0"), "{metrics}");
    assert!(metrics.contains("pilothouse_dependency_up{name=\"redis\"} 1"), "{metrics}");
}
