//! Operations across crashes: the server is killed in every phase of one, and it still has one result, one response and
//! one end.

use std::time::Duration;

use serde_json::json;
use testkit::external_service::ServiceResponse;
use testkit::model_server::{Gate, Script};

use super::{
    CALL, DONE, OperationServer, RENDER_ONCE, StartedOperation, TOOL, WORK, answer, content, film,
    finished, is_continuation, shown,
};
use crate::contract::assert_replay;
use crate::events::{ReceivedEvent, kinds, text_of};
use crate::history::history;
use crate::server::TEST_TIMEOUT;

/// Milliseconds between an accepted result and the kill. They cover the time from storing the result to the end of the
/// conversation.
const KILL_DELAYS_MS: [u64; 8] = [0, 3, 6, 10, 20, 40, 80, 160];

/// Asserts one result, one response and one end.
async fn assert_one_result_and_end(
    setup: &OperationServer,
    begun: &StartedOperation,
) -> Vec<ReceivedEvent> {
    let events = setup.follow(&begun.task).await.all().await;
    let log = setup.server.log();
    assert_eq!(assert_replay(&events), finished(), "{log}");
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}), "{log}");
    assert!(text_of(&events).ends_with(DONE), "{}; {log}", text_of(&events));
    assert_eq!(setup.task(&begun.task).await["status"], "completed");
    assert_eq!(content(&setup.row(&begun.session).await), json!({"file": "film.mp4"}));
    let history = history(&setup.server, &begun.session).await;
    assert_eq!(history.iter().filter(|row| row["content"] == DONE).count(), 1, "{history:?}");
    assert_eq!(history.last().expect("rows")["content"], DONE);
    setup.model.assert_no_violations();
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_interrupted_by_a_crash_is_repeated_with_the_same_key() {
    let mut setup = OperationServer::start().await;
    setup.service.answer(TOOL, ServiceResponse::never());
    let begun = setup.begin().await;
    setup.call_of(&begun.operation).await;
    setup.server.kill9();
    setup.service.wait_until_left(TOOL, 0).await;
    setup.service.answer(TOOL, ServiceResponse::accepted());
    setup.server.restart();
    let calls = setup.service.wait_for_calls(TOOL, 2).await;
    assert_eq!(calls[0].key(), calls[1].key());
    assert_eq!(calls[0].body["operation_id"], calls[1].body["operation_id"]);
    assert_eq!(calls[1].task_id(), begun.task);
    setup.wait_until_waiting(&begun).await;
    setup.complete(&begun.operation, &film()).await;
    assert_one_result_and_end(&setup, &begun).await;
    assert_eq!(setup.service.calls(TOOL).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn unrepeatable_work_is_not_requested_again_and_the_model_is_told() {
    let mut setup = OperationServer::start().await;
    setup.service.answer(RENDER_ONCE, ServiceResponse::never());
    setup.model.enqueue(Script::tool(CALL, RENDER_ONCE, &json!({"work": WORK})));
    let begun = setup.begin().await;
    setup.service.wait_for_calls(RENDER_ONCE, 1).await;
    setup.server.restart();
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert!(kinds(&events).contains(&"tool-output-error"), "{:?}", kinds(&events));
    assert_eq!(setup.row(&begun.session).await["outcome"], "interrupted");
    let told = setup.continuations()[0].last_user_text();
    assert!(told.contains("may or may not have happened"), "{told}");
    assert_eq!(setup.service.calls(RENDER_ONCE).len(), 1);
    setup.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_interrupted_by_a_graceful_shutdown_is_repeated() {
    let mut setup = OperationServer::start().await;
    setup.service.answer(TOOL, ServiceResponse::never());
    let begun = setup.begin().await;
    setup.call_of(&begun.operation).await;
    setup.server.sigterm();
    assert!(setup.server.wait_for_exit(TEST_TIMEOUT).success());
    setup.service.wait_until_left(TOOL, 0).await;
    setup.service.answer(TOOL, ServiceResponse::json(json!({"file": "film.mp4"})));
    setup.server.restart();
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(shown(&events)["output"], json!({"file": "film.mp4"}));
    let calls = setup.service.calls(TOOL);
    assert_eq!((calls.len(), calls[0].key()), (2, calls[1].key()));
    setup.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_waits_for_its_result_across_a_crash() {
    let mut setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    setup.server.restart();
    setup.complete(&begun.operation, &film()).await;
    let events = assert_one_result_and_end(&setup, &begun).await;
    assert_eq!(text_of(&events), DONE);
    assert!(!kinds(&events).contains(&"data-attempt"), "nothing was cut off: {:?}", kinds(&events));
    assert_eq!(setup.service.calls(TOOL).len(), 1, "the work is not requested again");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_result_is_answered_whenever_the_server_is_killed_after_it() {
    let mut setup = OperationServer::start().await;
    for delay in KILL_DELAYS_MS {
        let begun = setup.start_and_wait().await;
        setup.complete(&begun.operation, &film()).await;
        tokio::time::sleep(Duration::from_millis(delay)).await;
        setup.server.restart();
        assert_one_result_and_end(&setup, &begun).await;
    }
    assert_eq!(setup.service.calls(TOOL).len(), KILL_DELAYS_MS.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_while_the_conversation_continues_restarts_that_step() {
    let mut setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say_in("The fi", 1).wait_for(&gate));
    setup.complete(&begun.operation, &film()).await;
    gate.reached().await;
    setup.follow(&begun.task).await.until("text-delta").await;
    setup.server.restart();
    let events = assert_one_result_and_end(&setup, &begun).await;
    assert!(kinds(&events).contains(&"data-attempt"), "{:?}", kinds(&events));
    assert_eq!(setup.continuations().len(), 2, "asked once more, because it was cut off");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_while_a_result_waits_for_a_running_turn_loses_neither() {
    let mut setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.model.respond_with(move |request| match request.last_user_text().as_str() {
        "talk" => Script::default().say_in("I am ", 1).wait_for(&held).say_in("talking.", 1),
        _ if is_continuation(request) => Script::text(DONE),
        _ => answer(request),
    });
    let mut talk = setup.server.say(&begun.session, "talk").await;
    talk.until("text-delta").await;
    let talking = crate::events::turn_of(&talk);
    setup.complete(&begun.operation, &film()).await;
    setup.follow(&begun.task).await.until("tool-output-available").await;
    setup.server.restart();
    gate.open();
    assert_one_result_and_end(&setup, &begun).await;
    let (talked, end) = setup.to_the_end(&talking).await;
    assert_eq!(end, finished());
    assert!(text_of(&talked).ends_with("I am talking."));
}
