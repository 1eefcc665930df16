//! Canceling an operation in each of its phases.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::external_service::ServiceResponse;
use testkit::model_server::{Gate, Script};

use super::{
    OperationServer, TOOL, answer, content, film, is_continuation, shown, status, webhook,
};
use crate::contract::TurnEnd;
use crate::events::{Ending, kinds};
use crate::history::history;

/// Far more than a cancel takes, far less than any timeout it could be waiting for.
const CANCELED_WITHIN: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_waiting_operation_is_cancelled_and_a_late_result_changes_nothing() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let mut live = setup.follow(&begun.task).await;
    live.until("tool-input-available").await;
    let report = setup.server.cancel(&begun.session).await;
    assert_eq!(report["cancelled"], true, "{report}");
    assert_eq!(live.rest().await.1, Ending::Complete);
    assert_stopped(&setup, &begun.session, &begun.task).await;

    setup.complete(&begun.operation, &film()).await;
    assert_stopped(&setup, &begun.session, &begun.task).await;
    setup.model.enqueue(Script::text("Here."));
    setup.server.say(&begun.session, "next").await.all().await;
    assert_eq!(setup.continuations().len(), 0, "the conversation does not continue with it");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn canceling_an_operation_closes_the_open_request_to_its_service() {
    let setup = OperationServer::start().await;
    setup.service.answer(TOOL, ServiceResponse::never());
    let begun = setup.begin().await;
    setup.call_of(&begun.operation).await;
    let asked = Instant::now();
    let report = setup.server.cancel(&begun.session).await;
    assert_eq!((&report["cancelled"], &report["reason"]), (&json!(true), &Value::Null), "{report}");
    setup.service.wait_until_left(TOOL, 0).await;
    assert!(asked.elapsed() < CANCELED_WITHIN, "it took {:?}", asked.elapsed());
    assert_stopped(&setup, &begun.session, &begun.task).await;
    setup.complete(&begun.operation, &film()).await;
    assert_stopped(&setup, &begun.session, &begun.task).await;
}

#[tokio::test]
async fn canceling_the_continuation_after_an_operation_keeps_its_result() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.model.respond_with(move |request| match is_continuation(request) {
        true => Script::default().say_in("The film", 1).wait_for(&held),
        false => answer(request),
    });
    setup.complete(&begun.operation, &film()).await;
    gate.reached().await;
    setup.server.cancel(&begun.session).await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, shown(&events)), (TurnEnd::Aborted, &json!({"file": "film.mp4"})));
    let row = setup.row(&begun.session).await;
    assert_eq!((&row["outcome"], content(&row)), (&json!("ok"), json!({"file": "film.mp4"})));
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn an_operation_is_deleted_with_its_session() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let path = format!("/chat/sessions/{}", begun.session);
    let deleted = setup.server.client.delete(setup.server.api(&path)).send().await;
    assert_eq!(status(deleted).await, 204);
    let late = webhook(&setup.server, &begun.operation, &film()).send().await;
    assert_eq!(status(late).await, 404);
    let task = setup.server.get(&format!("/chat/tasks/{}", begun.task)).send().await;
    assert_eq!(status(task).await, 404);
    setup.start_and_wait().await;
    assert_eq!(setup.continuations().len(), 0);
}

async fn assert_stopped(setup: &OperationServer, session: &str, task: &str) {
    let (events, end) = setup.to_the_end(task).await;
    assert_eq!(end, TurnEnd::Aborted, "{:?}", kinds(&events));
    assert_eq!(setup.task(task).await["status"], "cancelled");
    let row = setup.row(session).await;
    assert_eq!(row["outcome"], "cancelled", "{row}");
    let rows = history(&setup.server, session).await;
    assert!(rows.iter().all(|row| row["content"] != super::DONE));
}
