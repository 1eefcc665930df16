//! The phases of an operation that succeeds.

use serde_json::{Value, json};
use testkit::external_service::{Answer, SECRET};
use testkit::model_server::{Gate, Script};

use super::super::scripted::{dialects, output};
use super::guarantees::history::history;
use super::guarantees::{eventually, rows, turn_of};
use super::{
    BEGUN, CALL, DONE, ORDINARY, TOOL, WORK, Workshop, answer, content, film, finished, goes_on,
    shown,
};
use crate::contract::assert_whole;
use crate::events::{kinds, text_of};

#[tokio::test]
async fn the_turn_that_starts_an_operation_continues_at_once() {
    let shop = Workshop::start().await;
    shop.service.answer(TOOL, Answer::never());
    let begun = shop.begin().await;
    assert_eq!((assert_whole(&begun.turn), text_of(&begun.turn)), (finished(), BEGUN.to_owned()));
    let (_, told) = shop.model.requests()[1].tool_results().pop().expect("a result");
    for id in [&begun.operation, &begun.task] {
        assert!(told.contains(id.as_str()), "the model can ask about it: {told}");
    }
    let pending = content(&shop.row(&begun.session).await);
    assert_eq!(pending["type"], "operation_pending");
    assert_eq!(
        (&pending["operation_id"], &pending["task_id"]),
        (&json!(begun.operation), &json!(begun.task))
    );
    let task = shop.task(&begun.task).await;
    assert_eq!(
        (&task["tool_name"], &task["operation_id"], &task["session_id"]),
        (&json!(TOOL), &json!(begun.operation), &json!(begun.session))
    );
    shop.call_of(&begun.operation).await;
    assert_eq!(task["status"], "running");
    assert_eq!(shop.server.read_session(&begun.session).await["chat_status"], "idle");
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn the_service_gets_the_work_and_the_callback_url() {
    let shop = Workshop::with(&[("PLATFORM_BASE_URL", "https://pilot.example/base/")]).await;
    let begun = shop.begin().await;
    let call = shop.call_of(&begun.operation).await;
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
    let shop = Workshop::start().await;
    shop.service.answer(TOOL, Answer::json(json!({"file": "film.mp4"})));
    let begun = shop.begin().await;
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    let output = shown(&events);
    assert_eq!(
        (&output["type"], &output["output"]["file"]),
        (&json!("external_tool_output"), &json!("film.mp4"))
    );
    assert_eq!(content(&shop.row(&begun.session).await), *output);
    assert_eq!(shop.task(&begun.task).await["status"], "completed");
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn a_webhook_result_replaces_the_placeholder_and_the_conversation_continues() {
    for dialect in dialects() {
        goes_on_with_its_result(&Workshop::speaking(dialect, &[]).await).await;
    }
}

async fn goes_on_with_its_result(shop: &Workshop) {
    let begun = shop.begin_and_rest().await;
    assert_eq!(shop.task(&begun.task).await["status"], "running");
    let mut live = shop.follow(&begun.task).await;
    let before = live.until_seen("tool-input-available").await;
    assert_eq!(before.last().expect("a call").chunk["input"], json!({"work": WORK}));
    shop.complete(&begun.operation, &film()).await;
    let (rest, _) = live.rest().await;
    let events = [before, rest].concat();
    assert_eq!((assert_whole(&events), text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(shown(&events), &json!({"file": "film.mp4"}));
    assert_eq!(kinds(&events)[..3], ["start", "start-step", "tool-input-available"]);
    assert!(!kinds(&events).contains(&"data-attempt"), "not a crash: {:?}", kinds(&events));

    let history = history(&shop.server, &begun.session).await;
    let roles: Vec<&str> = history.iter().filter_map(|row| row["role"].as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "assistant"]);
    assert_eq!(content(&shop.row(&begun.session).await), json!({"file": "film.mp4"}));
    let last = history.last().expect("rows");
    assert_eq!((&last["content"], &last["turn_id"]), (&json!(DONE), &json!(begun.task)));

    let [request] = shop.continuations().try_into().expect("the model was asked once");
    assert!(request.last_user_text().contains("film.mp4"), "{}", request.last_user_text());
    let with_result = |message: &&Value| {
        let text = message.to_string();
        message["role"] != "assistant" && text.contains(CALL) && text.contains("film.mp4")
    };
    assert_eq!(request.messages().iter().filter(with_result).count(), 1, "{:?}", request.body);
    assert_eq!(shop.task(&begun.task).await["status"], "completed");
    shop.model.assert_no_violations();

    let next = shop.server.say(&begun.session, "another one").await.all().await;
    assert_eq!(assert_whole(&next), finished(), "the session works as before");
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn a_waiting_operation_holds_no_worker_and_no_permit() {
    let one = [("NUM_COPILOT_WORKERS", "1"), ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1")];
    let shop = Workshop::with(&one).await;
    let mut resting = Vec::new();
    for _ in 0..3 {
        resting.push(shop.begin_and_rest().await);
    }
    for begun in &resting {
        shop.complete(&begun.operation, &film()).await;
    }
    for begun in &resting {
        assert_eq!(shop.to_the_end(&begun.task).await.1, finished());
    }
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn the_continuation_after_an_operation_is_the_active_stream() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    assert_eq!(shop.server.read_session(&begun.session).await["active_stream"], Value::Null);
    let gate = Gate::closed();
    let held = gate.clone();
    shop.model.respond_with(move |request| match goes_on(request) {
        true => Script::default().say(DONE).wait_for(&held),
        false => answer(request),
    });
    shop.complete(&begun.operation, &film()).await;
    gate.reached().await;
    let active = shop.server.read_session(&begun.session).await["active_stream"].clone();
    assert_eq!(
        (&active["task_id"], &active["operation_id"], &active["tool_name"]),
        (&json!(begun.task), &json!(begun.operation), &json!(TOOL))
    );
    let joined = shop.server.get(&format!("/chat/sessions/{}/stream", begun.session)).send().await;
    let mut joined = crate::events::Events::of(joined.expect("an answer"));
    assert_eq!(turn_of(&joined), begun.task);
    joined.until("text-delta").await;
    gate.open();
    joined.rest().await;
    let idle = eventually("the end", async || {
        let session = shop.server.read_session(&begun.session).await;
        (session["chat_status"] == "idle").then_some(session)
    });
    assert_eq!(idle.await["active_stream"], Value::Null);
}

#[tokio::test]
async fn an_operation_can_lead_to_another_one() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    shop.model.enqueue(Script::tool("call_second", TOOL, &json!({"work": "a poster"})));
    shop.model.enqueue(Script::text("And now a poster."));
    shop.complete(&begun.operation, &film()).await;
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), "And now a poster.".to_owned()));
    let second = output(&events, "call_second");
    assert_eq!(second["type"], "operation_started");
    let id = |name: &str| second[name].as_str().expect("an id").to_owned();
    assert_ne!(id("operation_id"), begun.operation);
    let call = shop.call_of(&id("operation_id")).await;
    assert_eq!((call.work(), call.task_id()), ("a poster", id("task_id").as_str()));
    shop.complete(&id("operation_id"), &json!({"success": true, "result": "poster.png"})).await;
    assert_eq!(text_of(&shop.to_the_end(&id("task_id")).await.0), DONE);
    let history = history(&shop.server, &begun.session).await;
    let results: Vec<&str> =
        rows(&history, "tool").iter().filter_map(|row| row["content"].as_str()).collect();
    assert_eq!(results, [r#"{"file":"film.mp4"}"#, r#""poster.png""#]);
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn calls_in_the_continuation_are_not_part_of_the_operation() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    shop.model.enqueue(Script::tool("call_weigh", ORDINARY, &json!({"work": "the film"})));
    shop.model.enqueue(Script::text("It weighs nothing."));
    shop.complete(&begun.operation, &film()).await;
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), "It weighs nothing.".to_owned()));
    assert_eq!(output(&events, "call_weigh")["output"], json!({"done": true}));
    let [call] = shop.service.calls(ORDINARY).try_into().expect("one call");
    for field in ["operation_id", "task_id", "callback_url"] {
        assert_eq!(call.body.get(field), None, "{field} is for operations");
    }
    assert_ne!(call.key(), format!("operation/{}", begun.operation));
    history(&shop.server, &begun.session).await;
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn without_wake_ups_an_operation_still_ends() {
    let deaf = [("PILOTHOUSE_DEAF", "on"), ("SWEEP_INTERVAL_MS", "200")];
    let shop = Workshop::with(&deaf).await;
    let begun = shop.begin_and_rest().await;
    shop.complete(&begun.operation, &film()).await;
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
}
