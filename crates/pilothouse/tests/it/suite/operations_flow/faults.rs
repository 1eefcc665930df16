//! Operations across crashes: the server is killed in every phase of one, and it still has one result, one response and
//! one end.

use std::time::Duration;

use serde_json::json;
use testkit::external_service::Answer;
use testkit::model_server::{Gate, Script};

use super::guarantees::history::history;
use super::{
    Begun, CALL, DONE, RENDER_ONCE, TOOL, WORK, Workshop, answer, content, film, finished, goes_on,
    shown,
};
use crate::contract::assert_replay;
use crate::events::{Got, kinds, text_of};
use crate::server::PATIENCE;

/// Milliseconds between an accepted result and the kill. They cover the time from storing the result to the end of the
/// conversation.
const MOMENTS: [u64; 8] = [0, 3, 6, 10, 20, 40, 80, 160];

/// Asserts one result, one response and one end.
async fn assert_came_to_one_end(shop: &Workshop, begun: &Begun) -> Vec<Got> {
    let events = shop.follow(&begun.task).await.all().await;
    let log = shop.server.log();
    assert_eq!(assert_replay(&events), finished(), "{log}");
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}), "{log}");
    assert!(text_of(&events).ends_with(DONE), "{}; {log}", text_of(&events));
    assert_eq!(shop.task(&begun.task).await["status"], "completed");
    assert_eq!(content(&shop.row(&begun.session).await), json!({"file": "film.mp4"}));
    let history = history(&shop.server, &begun.session).await;
    assert_eq!(history.iter().filter(|row| row["content"] == DONE).count(), 1, "{history:?}");
    assert_eq!(history.last().expect("rows")["content"], DONE);
    shop.model.assert_no_violations();
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_interrupted_by_a_crash_is_repeated_with_the_same_key() {
    let mut shop = Workshop::start().await;
    shop.service.answer(TOOL, Answer::never());
    let begun = shop.begin().await;
    shop.call_of(&begun.operation).await;
    shop.server.kill9();
    shop.service.wait_until_left(TOOL, 0).await;
    shop.service.answer(TOOL, Answer::accepted());
    shop.server.restart();
    let calls = shop.service.wait_for_calls(TOOL, 2).await;
    assert_eq!(calls[0].key(), calls[1].key());
    assert_eq!(calls[0].body["operation_id"], calls[1].body["operation_id"]);
    assert_eq!(calls[1].task_id(), begun.task);
    shop.rests(&begun).await;
    shop.complete(&begun.operation, &film()).await;
    assert_came_to_one_end(&shop, &begun).await;
    assert_eq!(shop.service.calls(TOOL).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn unrepeatable_work_is_not_requested_again_and_the_model_is_told() {
    let mut shop = Workshop::start().await;
    shop.service.answer(RENDER_ONCE, Answer::never());
    shop.model.enqueue(Script::tool(CALL, RENDER_ONCE, &json!({"work": WORK})));
    let begun = shop.begin().await;
    shop.service.wait_for_calls(RENDER_ONCE, 1).await;
    shop.server.restart();
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert!(kinds(&events).contains(&"tool-output-error"), "{:?}", kinds(&events));
    assert_eq!(shop.row(&begun.session).await["outcome"], "interrupted");
    let told = shop.continuations()[0].last_user_text();
    assert!(told.contains("may or may not have happened"), "{told}");
    assert_eq!(shop.service.calls(RENDER_ONCE).len(), 1);
    shop.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_interrupted_by_a_graceful_shutdown_is_repeated() {
    let mut shop = Workshop::start().await;
    shop.service.answer(TOOL, Answer::never());
    let begun = shop.begin().await;
    shop.call_of(&begun.operation).await;
    shop.server.sigterm();
    assert!(shop.server.wait_for_exit(PATIENCE).success());
    shop.service.wait_until_left(TOOL, 0).await;
    shop.service.answer(TOOL, Answer::json(json!({"file": "film.mp4"})));
    shop.server.restart();
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(shown(&events)["output"], json!({"file": "film.mp4"}));
    let calls = shop.service.calls(TOOL);
    assert_eq!((calls.len(), calls[0].key()), (2, calls[1].key()));
    shop.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_waits_for_its_result_across_a_crash() {
    let mut shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    shop.server.restart();
    shop.complete(&begun.operation, &film()).await;
    let events = assert_came_to_one_end(&shop, &begun).await;
    assert_eq!(text_of(&events), DONE);
    assert!(!kinds(&events).contains(&"data-attempt"), "nothing was cut off: {:?}", kinds(&events));
    assert_eq!(shop.service.calls(TOOL).len(), 1, "the work is not requested again");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_result_is_answered_whenever_the_server_is_killed_after_it() {
    let mut shop = Workshop::start().await;
    for moment in MOMENTS {
        let begun = shop.begin_and_rest().await;
        shop.complete(&begun.operation, &film()).await;
        tokio::time::sleep(Duration::from_millis(moment)).await;
        shop.server.restart();
        assert_came_to_one_end(&shop, &begun).await;
    }
    assert_eq!(shop.service.calls(TOOL).len(), MOMENTS.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_while_the_conversation_continues_restarts_that_step() {
    let mut shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    let gate = Gate::closed();
    shop.model.enqueue(Script::default().say_in("The fi", 1).wait_for(&gate));
    shop.complete(&begun.operation, &film()).await;
    gate.reached().await;
    shop.follow(&begun.task).await.until("text-delta").await;
    shop.server.restart();
    let events = assert_came_to_one_end(&shop, &begun).await;
    assert!(kinds(&events).contains(&"data-attempt"), "{:?}", kinds(&events));
    assert_eq!(shop.continuations().len(), 2, "asked once more, because it was cut off");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_while_a_result_waits_for_a_running_turn_loses_neither() {
    let mut shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    let gate = Gate::closed();
    let held = gate.clone();
    shop.model.respond_with(move |request| match request.last_user_text().as_str() {
        "talk" => Script::default().say_in("I am ", 1).wait_for(&held).say_in("talking.", 1),
        _ if goes_on(request) => Script::text(DONE),
        _ => answer(request),
    });
    let mut talk = shop.server.say(&begun.session, "talk").await;
    talk.until("text-delta").await;
    let talking = super::guarantees::turn_of(&talk);
    shop.complete(&begun.operation, &film()).await;
    shop.follow(&begun.task).await.until("tool-output-available").await;
    shop.server.restart();
    gate.open();
    assert_came_to_one_end(&shop, &begun).await;
    let (talked, end) = shop.to_the_end(&talking).await;
    assert_eq!(end, finished());
    assert!(text_of(&talked).ends_with("I am talking."));
}
