//! Operation results that another program on the same machine inserts into the completion table.

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use testkit::external_service::ServiceResponse;

use crate::agent_fixtures::adder;
use crate::embedded::agents::words_server::{GENERATE, WordsServer, reported};
use crate::embedded::operations_flow::{OperationServer, TOOL, film, finished, shown};
use crate::server::{TestServer, eventually};

/// The database, opened as another program does it.
pub(crate) fn open(server: &TestServer) -> Connection {
    let path = server.folder().join("data/pilothouse.db");
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let db = db.expect("a database");
    db.busy_timeout(crate::server::TEST_TIMEOUT).expect("the timeout is set");
    db
}

fn leave(db: &Connection, body: &str) {
    db.execute("INSERT INTO completion (body) VALUES (?1)", [body]).expect("the row is inserted");
}

async fn empty(db: &Connection) {
    eventually("an empty table", async || {
        let count = db.query_row("SELECT count(*) FROM completion", [], |row| row.get::<_, i64>(0));
        (count.expect("a count") == 0).then_some(())
    })
    .await;
}

fn with(id: &str, value: &str) -> Value {
    let mut message = film();
    message[id] = json!(value);
    message
}

#[tokio::test]
async fn results_in_the_table_are_accepted_and_invalid_rows_are_deleted() {
    let setup = OperationServer::start().await;
    let db = open(&setup.server);
    let (first, second) = (setup.start_and_wait().await, setup.start_and_wait().await);
    leave(&db, "canary, and no JSON");
    leave(&db, r#"{"success": true, "result": "canary"}"#);
    leave(&db, r#"{"operation_id": "nothing", "success": true, "result": "canary"}"#);
    leave(&db, &with("operation_id", &first.operation).to_string());
    leave(&db, &with("task_id", &second.task).to_string());
    for begun in [&first, &second] {
        let (events, end) = setup.to_the_end(&begun.task).await;
        assert_eq!((end, shown(&events)), (finished(), &json!({"file": "film.mp4"})));
    }
    empty(&db).await;
    let log = setup.server.log();
    for part in ["cannot be read", "names no operation", "that is not known"] {
        assert_eq!(log.matches(part).count(), 1, "{part}\n{log}");
    }
    assert!(!log.contains("canary"), "{log}");
}

#[tokio::test]
async fn a_result_inserted_while_the_server_was_down_is_processed_at_its_start() {
    let mut setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    setup.server.kill9();
    for _ in 0..3 {
        leave(&open(&setup.server), &with("operation_id", &begun.operation).to_string());
    }
    setup.server.restart();
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, shown(&events)), (finished(), &json!({"file": "film.mp4"})));
    empty(&open(&setup.server)).await;
    assert_eq!((setup.continuations().len(), setup.service.calls(TOOL).len()), (1, 1));
}

#[tokio::test]
async fn an_agent_reported_in_the_table_is_saved_once() {
    let mut setup = WordsServer::start().await;
    setup.generator.answer(GENERATE, ServiceResponse::accepted());
    let begun = setup.begin_accepted("create_agent", &json!({"description": "Add 10"})).await;
    setup.server.kill9();
    let mut message = reported(&adder("Adder", 10));
    message["task_id"] = json!(begun.task);
    for _ in 0..3 {
        leave(&open(&setup.server), &message.to_string());
    }
    setup.server.restart();
    let saved = setup.result(&begun).await;
    assert_eq!(saved["type"], "agent_saved", "{saved}");
    empty(&open(&setup.server)).await;
    assert_eq!(setup.library().await, ["Adder"]);
}
