//! Recorded streams of turns with long work, and of turns that get further messages.

use serde_json::json;
use testkit::external_service::ServiceResponse;
use testkit::model_server::{Dialect, Gate, Script};

use super::assert_says;
use super::long_work::{LongWorkServer, calls, check, delegate, result_text, slow, unscripted};
use super::operations_flow::{OperationServer, film};
use super::scripted::ScriptedServer;
use crate::scripts::todo;
use crate::server::json_of;

#[tokio::test]
async fn a_running_sub_session() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.script_model(move |words, step, _| match (words, step) {
        ("Ask the harbour master.", 0) => calls(&[delegate("call_child", "Is there a berth?")]),
        ("Ask the harbour master.", 1) => Script::text("Berth 12 is free."),
        ("Is there a berth?", 0) => Script::default().wait_for(&held).say("Yes, berth 12."),
        _ => unscripted(words, step),
    });
    let (_, mut events) = setup.begin("Ask the harbour master.").await;
    let mut all = events.until_seen("tool-output-available").await;
    gate.open();
    all.extend(events.rest().await.0);
    assert_says("sub-session", &all);
}

#[tokio::test]
async fn a_background_call() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    setup
        .service
        .answer("read_slowly", ServiceResponse::json(json!({"tonnes": 12})).held_by(&gate));
    setup.script_model(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "read_slowly")]),
        1 => {
            let id = result_text(request, "call_slow", "background_id");
            check("call_wait", json!({"background_id": id, "wait_seconds": 60}))
        }
        2 => Script::text("It weighs 12 tonnes."),
        _ => unscripted(words, step),
    });
    let (_, mut events) = setup.begin("Weigh the cargo.").await;
    let mut all = Vec::new();
    // The waiting call must be announced before the other one ends, or their order would vary.
    for seen in ["tool-output-available", "tool-input-available"] {
        all.extend(events.until_seen(seen).await);
    }
    gate.open();
    all.extend(events.rest().await.0);
    assert_says("background", &all);
}

#[tokio::test]
async fn an_operation_from_its_start_to_the_response_to_its_result() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    assert_says("operation-started", &begun.turn);
    setup.complete(&begun.operation, &film()).await;
    let (events, _) = setup.to_the_end(&begun.task).await;
    assert_says("operation-finished", &events);
}

#[tokio::test]
async fn a_follow_up_that_the_next_step_reads() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    let call = todo("call_plan", "Sail to Breskens");
    setup.model.enqueue(Script::default().say("I plan it.").wait_for(&gate).call(&[call]));
    setup.model.enqueue(Script::text("To Breskens, and back before dark."));
    let events = setup.server.say(&session, "Plan a trip to Breskens.").await;
    gate.reached().await;
    let path = format!("/chat/sessions/{session}/messages/pending");
    let follow_up = json!({"message": "And back before dark."});
    json_of(setup.server.post(&path, &follow_up).send().await.expect("an answer")).await;
    gate.open();
    assert_says("follow-up", &events.all().await);
}

#[tokio::test]
async fn a_compacted_conversation() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("CHAT_CONTEXT_TOKENS", "40000")]).await;
    let session = setup.server.session().await;
    for question in ["Plan a harbour.", "And the details."] {
        setup.model.enqueue(Script::text(&"a".repeat(60_000)));
        setup.turn(&session, question).await;
    }
    setup.model.enqueue(Script::text("The harbour has two piers and a light."));
    setup.model.enqueue(Script::text("It is called Port Lotse."));
    let (events, _) = setup.turn(&session, "How shall we call it?").await;
    assert_says("compaction", &events);
}
