//! Canceling an operation in each of its phases.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::external_service::Answer;
use testkit::model_server::{Gate, Script};

use super::guarantees::history::history;
use super::{TOOL, Workshop, answer, content, film, goes_on, shown, status, webhook};
use crate::contract::End;
use crate::events::{Ending, kinds};

/// Far more than a cancel takes, far less than any timeout it could be waiting for.
const SOON: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_waiting_operation_is_cancelled_and_a_late_result_changes_nothing() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    let mut live = shop.follow(&begun.task).await;
    live.until("tool-input-available").await;
    let report = shop.server.cancel(&begun.session).await;
    assert_eq!(report["cancelled"], true, "{report}");
    assert_eq!(live.rest().await.1, Ending::Complete);
    assert_stopped(&shop, &begun.session, &begun.task).await;

    shop.complete(&begun.operation, &film()).await;
    assert_stopped(&shop, &begun.session, &begun.task).await;
    shop.model.enqueue(Script::text("Here."));
    shop.server.say(&begun.session, "next").await.all().await;
    assert_eq!(shop.continuations().len(), 0, "the conversation does not continue with it");
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn canceling_an_operation_closes_the_open_request_to_its_service() {
    let shop = Workshop::start().await;
    shop.service.answer(TOOL, Answer::never());
    let begun = shop.begin().await;
    shop.call_of(&begun.operation).await;
    let asked = Instant::now();
    let report = shop.server.cancel(&begun.session).await;
    assert_eq!((&report["cancelled"], &report["reason"]), (&json!(true), &Value::Null), "{report}");
    shop.service.wait_until_left(TOOL, 0).await;
    assert!(asked.elapsed() < SOON, "it took {:?}", asked.elapsed());
    assert_stopped(&shop, &begun.session, &begun.task).await;
    shop.complete(&begun.operation, &film()).await;
    assert_stopped(&shop, &begun.session, &begun.task).await;
}

#[tokio::test]
async fn canceling_the_continuation_after_an_operation_keeps_its_result() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    let gate = Gate::closed();
    let held = gate.clone();
    shop.model.respond_with(move |request| match goes_on(request) {
        true => Script::default().say_in("The film", 1).wait_for(&held),
        false => answer(request),
    });
    shop.complete(&begun.operation, &film()).await;
    gate.reached().await;
    shop.server.cancel(&begun.session).await;
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, shown(&events)), (End::Aborted, &json!({"file": "film.mp4"})));
    let row = shop.row(&begun.session).await;
    assert_eq!((&row["outcome"], content(&row)), (&json!("ok"), json!({"file": "film.mp4"})));
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn an_operation_is_deleted_with_its_session() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    let path = format!("/chat/sessions/{}", begun.session);
    let deleted = shop.server.client.delete(shop.server.api(&path)).send().await;
    assert_eq!(status(deleted).await, 204);
    let late = webhook(&shop.server, &begun.operation, &film()).send().await;
    assert_eq!(status(late).await, 404);
    let task = shop.server.get(&format!("/chat/tasks/{}", begun.task)).send().await;
    assert_eq!(status(task).await, 404);
    shop.begin_and_rest().await;
    assert_eq!(shop.continuations().len(), 0);
}

async fn assert_stopped(shop: &Workshop, session: &str, task: &str) {
    let (events, end) = shop.to_the_end(task).await;
    assert_eq!(end, End::Aborted, "{:?}", kinds(&events));
    assert_eq!(shop.task(task).await["status"], "cancelled");
    let row = shop.row(session).await;
    assert_eq!(row["outcome"], "cancelled", "{row}");
    let rows = history(&shop.server, session).await;
    assert!(rows.iter().all(|row| row["content"] != super::DONE));
}
