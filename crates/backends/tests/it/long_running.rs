//! Behavior of the embedded store for long-running work, beyond the laws.

use ports::store::JournalEntry;
use protocol::tool::ToolEffect;
use protocol::turn::TurnStatus;
use rusqlite::Connection;
use testkit::conformance::BackendFixture;
use testkit::conformance::scene::*;

use crate::fixture::{Embedded, raw_database};

fn text(database: &Connection, query: &str) -> Option<String> {
    database.query_row(query, [], |row| row.get(0)).expect("a row")
}

#[tokio::test]
async fn a_background_call_is_cancelled_with_its_turn() {
    let fixture = Embedded::start().await;
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let intent = JournalEntry::Intent { call_id: "a".into(), effect: ToolEffect::None };
    record(
        ports,
        &claim,
        vec![intent, JournalEntry::MovedToBackground { call_id: "a".into(), id: "bg-a".into() }],
    )
    .await;
    end(ports, &claim, TurnStatus::Completed).await;
    let database = raw_database(fixture.folder());
    assert_eq!(text(&database, "SELECT outcome FROM journal").as_deref(), Some("cancelled"));
    let output = text(&database, "SELECT output FROM journal").expect("an output");
    assert!(output.starts_with(r#"{"type":"error","error":"cancelled","message":"#), "{output}");
}

#[tokio::test]
async fn another_program_can_insert_a_completion() {
    let fixture = Embedded::start().await;
    let database = raw_database(fixture.folder());
    let body = r#"{"operation_id":"o-1","success":true}"#;
    database.execute("INSERT INTO completion (body) VALUES (?1)", [body]).expect("a row");
    let arrived = tokio::time::timeout(LAW / 2, fixture.ports().completions.next()).await;
    let arrived = arrived.expect("in time").expect("next");
    assert_eq!(arrived.body, body);
    arrived.ack().await.expect("ack");
    assert_eq!(text(&database, "SELECT max(body) FROM completion"), None, "it was deleted");
}

#[tokio::test]
async fn open_turns_of_the_previous_version_continue() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = raw_database(folder.path());
    for step in [
        include_str!("../../../../migrations/sqlite/0001_sessions_turns_logs.sql"),
        include_str!("../../../../migrations/sqlite/0002_places.sql"),
    ] {
        database.execute_batch(step).expect("the tables of the previous version");
    }
    database
        .execute_batch(
            "PRAGMA user_version = 2;
             INSERT INTO session (id, user_id, dry_run, metadata, created_at, updated_at,
                 last_ordinal)
             VALUES ('s', 'ann', 0, '{}', 1, 1, 1);
             INSERT INTO turn (id, session_id, ordinal, status, message_id, request, due_ms,
                 created_at, slot, admitted)
             VALUES ('t', 's', 1, 'queued', 't', '{}', 5, 1, 'ann', 1);
             INSERT INTO log (task_id, fence, last_seq, sealed) VALUES ('t', 0, 0, 0);",
        )
        .expect("a turn of the previous version");
    drop(database);
    let fixture = Embedded::start_in(folder).await;
    let ports = fixture.ports();
    assert_eq!(due(ports).await, ["t".into()]);
    let claim = claim(ports, &"t".into()).await;
    let seen = progress(ports, &claim).await;
    assert_eq!((seen.session.depth, seen.operation), (0, None));
    finish(ports, &claim, "done").await;
}
