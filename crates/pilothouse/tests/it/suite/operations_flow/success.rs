//! The phases of an operation that succeeds.

use serde_json::{Value, json};
use testkit::external_service::{SECRET, ServiceResponse};
use testkit::model_server::{Gate, Script};

use super::scripted::dialects;
use super::{
    CALL, DONE, ORDINARY, OperationServer, STARTED_TEXT, TOOL, WORK, answer, content, film,
    finished, is_continuation, shown,
};
use crate::contract::assert_complete;
use crate::events::{kinds, output, text_of, turn_of};
use crate::history::{history, rows};
use crate::server::eventually;

#[tokio::test]
async fn the_turn_that_starts_an_operation_continues_at_once() {
    let setup = OperationServer::start().await;
    setup.service.answer(TOOL, ServiceResponse::never());
    let begun = setup.begin().await;
    assert_eq!(
        (assert_complete(&begun.turn), text_of(&begun.turn)),
        (finished(), STARTED_TEXT.to_owned())
    );
    let (_, told) = setup.model.requests()[1].tool_results().pop().expect("a result");
    for id in [&begun.operation, &begun.task] {
        assert!(told.contains(id.as_str()), "the model gets the ids: {told}");
    }
    let pending = content(&setup.row(&begun.session).await);
    assert_eq!(pending["type"], "operation_pending");
    assert_eq!(
        (&pending["operation_id"], &pending["task_id"]),
        (&json!(begun.operation), &json!(begun.task))
    );
    let task = setup.task(&begun.task).await;
    assert_eq!(
        (&task["tool_name"], &task["operation_id"], &task["session_id"]),
        (&json!(TOOL), &json!(begun.operation), &json!(begun.session))
    );
    setup.call_of(&begun.operation).await;
    assert_eq!(task["status"], "running");
    assert_eq!(setup.server.read_session(&begun.session).await["chat_status"], "idle");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn the_service_gets_the_work_and_the_callback_url() {
    let setup =
        OperationServer::with(&[("PLATFORM_BASE_URL", "https://pilot.example/base/")]).await;
    let begun = setup.begin().await;
    let call = setup.call_of(&begun.operation).await;
    assert_eq!((call.work(), call.task_id()), (WORK, begun.task.as_str()));
    let url =
        format!("https://pilot.example/base/api/chat/operations/{}/complete", begun.operation);
    assert_eq!(call.callback_url(), url);
    assert_eq!(call.headers["authorization"], format!("Bearer {SECRET}"));
    assert_eq!(call.key(), format!("operation/{}", begun.operation));
    assert_eq!(call.body["tool_call_id"], CALL);
}

#[tokio::test]
async fn an_immediate_response_of_the_service_is_the_result() {
    let setup = OperationServer::start().await;
    setup.service.answer(TOOL, ServiceResponse::json(json!({"file": "film.mp4"})));
    let begun = setup.begin().await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    let output = shown(&events);
    assert_eq!(
        (&output["type"], &output["output"]["file"]),
        (&json!("external_tool_output"), &json!("film.mp4"))
    );
    assert_eq!(content(&setup.row(&begun.session).await), *output);
    assert_eq!(setup.task(&begun.task).await["status"], "completed");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_webhook_result_replaces_the_placeholder_and_the_conversation_continues() {
    for dialect in dialects() {
        assert_continues_with_result(&OperationServer::with_dialect(dialect, &[]).await).await;
    }
}

async fn assert_continues_with_result(setup: &OperationServer) {
    let begun = setup.start_and_wait().await;
    assert_eq!(setup.task(&begun.task).await["status"], "running");
    let mut live = setup.follow(&begun.task).await;
    let before = live.until_seen("tool-input-available").await;
    assert_eq!(before.last().expect("a call").chunk["input"], json!({"work": WORK}));
    setup.complete(&begun.operation, &film()).await;
    let (rest, _) = live.rest().await;
    let events = [before, rest].concat();
    assert_eq!((assert_complete(&events), text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(shown(&events), &json!({"file": "film.mp4"}));
    assert_eq!(kinds(&events)[..3], ["start", "start-step", "tool-input-available"]);
    assert!(!kinds(&events).contains(&"data-attempt"), "not a crash: {:?}", kinds(&events));

    let history = history(&setup.server, &begun.session).await;
    let roles: Vec<&str> = history.iter().filter_map(|row| row["role"].as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "assistant"]);
    assert_eq!(content(&setup.row(&begun.session).await), json!({"file": "film.mp4"}));
    let last = history.last().expect("rows");
    assert_eq!((&last["content"], &last["turn_id"]), (&json!(DONE), &json!(begun.task)));

    let [request] = setup.continuations().try_into().expect("the model was asked once");
    assert!(request.last_user_text().contains("film.mp4"), "{}", request.last_user_text());
    let with_result = |message: &&Value| {
        let text = message.to_string();
        message["role"] != "assistant" && text.contains(CALL) && text.contains("film.mp4")
    };
    assert_eq!(request.messages().iter().filter(with_result).count(), 1, "{:?}", request.body);
    assert_eq!(setup.task(&begun.task).await["status"], "completed");
    setup.model.assert_no_violations();

    let next = setup.server.say(&begun.session, "another one").await.all().await;
    assert_eq!(assert_complete(&next), finished(), "the session works as before");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_waiting_operation_holds_no_worker_and_no_permit() {
    let one = [("NUM_COPILOT_WORKERS", "1"), ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1")];
    let setup = OperationServer::with(&one).await;
    let mut resting = Vec::new();
    for _ in 0..3 {
        resting.push(setup.start_and_wait().await);
    }
    for begun in &resting {
        setup.complete(&begun.operation, &film()).await;
    }
    for begun in &resting {
        assert_eq!(setup.to_the_end(&begun.task).await.1, finished());
    }
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn the_continuation_after_an_operation_is_the_active_stream() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    assert_eq!(setup.server.read_session(&begun.session).await["active_stream"], Value::Null);
    let gate = Gate::closed();
    let held = gate.clone();
    setup.model.respond_with(move |request| match is_continuation(request) {
        true => Script::default().say(DONE).wait_for(&held),
        false => answer(request),
    });
    setup.complete(&begun.operation, &film()).await;
    gate.reached().await;
    let active = setup.server.read_session(&begun.session).await["active_stream"].clone();
    assert_eq!(
        (&active["task_id"], &active["operation_id"], &active["tool_name"]),
        (&json!(begun.task), &json!(begun.operation), &json!(TOOL))
    );
    let joined = setup.server.get(&format!("/chat/sessions/{}/stream", begun.session)).send().await;
    let mut joined = crate::events::EventStream::of(joined.expect("an answer"));
    assert_eq!(turn_of(&joined), begun.task);
    joined.until("text-delta").await;
    gate.open();
    joined.rest().await;
    let idle = eventually("the end", async || {
        let session = setup.server.read_session(&begun.session).await;
        (session["chat_status"] == "idle").then_some(session)
    });
    assert_eq!(idle.await["active_stream"], Value::Null);
}

#[tokio::test]
async fn an_operation_can_lead_to_another_one() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    setup.model.enqueue(Script::tool("call_second", TOOL, &json!({"work": "a poster"})));
    setup.model.enqueue(Script::text("And now a poster."));
    setup.complete(&begun.operation, &film()).await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), "And now a poster.".to_owned()));
    let second = output(&events, "call_second");
    assert_eq!(second["type"], "operation_started");
    let id = |name: &str| second[name].as_str().expect("an id").to_owned();
    assert_ne!(id("operation_id"), begun.operation);
    let call = setup.call_of(&id("operation_id")).await;
    assert_eq!((call.work(), call.task_id()), ("a poster", id("task_id").as_str()));
    setup.complete(&id("operation_id"), &json!({"success": true, "result": "poster.png"})).await;
    assert_eq!(text_of(&setup.to_the_end(&id("task_id")).await.0), DONE);
    let history = history(&setup.server, &begun.session).await;
    let results: Vec<&str> =
        rows(&history, "tool").iter().filter_map(|row| row["content"].as_str()).collect();
    assert_eq!(results, [r#"{"file":"film.mp4"}"#, r#""poster.png""#]);
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn calls_in_the_continuation_are_not_part_of_the_operation() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    setup.model.enqueue(Script::tool("call_weigh", ORDINARY, &json!({"work": "the film"})));
    setup.model.enqueue(Script::text("It weighs nothing."));
    setup.complete(&begun.operation, &film()).await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), "It weighs nothing.".to_owned()));
    assert_eq!(output(&events, "call_weigh")["output"], json!({"done": true}));
    let [call] = setup.service.calls(ORDINARY).try_into().expect("one call");
    for field in ["operation_id", "task_id", "callback_url"] {
        assert_eq!(call.body.get(field), None, "{field} is for operations");
    }
    assert_ne!(call.key(), format!("operation/{}", begun.operation));
    history(&setup.server, &begun.session).await;
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn without_wake_ups_an_operation_still_ends() {
    let no_wake_ups = [("PILOTHOUSE_DEAF", "on"), ("SWEEP_INTERVAL_MS", "200")];
    let setup = OperationServer::with(&no_wake_ups).await;
    let begun = setup.start_and_wait().await;
    setup.complete(&begun.operation, &film()).await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
}
