//! Recorded streams of turns with long work, and of turns that get further messages.

use serde_json::json;
use testkit::external_service::Answer;
use testkit::model_server::{Dialect, Gate, Script};

use super::assert_says;
use super::operations_flow::{Workshop, film};
use super::scripted::{Scene, todo};
use super::stage::{Stage, calls, check, delegate, slow, unplanned, word};
use crate::server::json_of;

#[tokio::test]
async fn a_running_sub_session() {
    let stage = Stage::set(&[]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    stage.plays(move |words, step, _| match (words, step) {
        ("Ask the harbour master.", 0) => calls(&[delegate("call_child", "Is there a berth?")]),
        ("Ask the harbour master.", 1) => Script::text("Berth 12 is free."),
        ("Is there a berth?", 0) => Script::default().wait_for(&held).say("Yes, berth 12."),
        _ => unplanned(words, step),
    });
    let (_, mut events) = stage.begin("Ask the harbour master.").await;
    let mut all = events.until_seen("tool-output-available").await;
    gate.open();
    all.extend(events.rest().await.0);
    assert_says("sub-session", &all);
}

#[tokio::test]
async fn a_background_call() {
    let stage = Stage::set(&[]).await;
    let gate = Gate::closed();
    stage.service.answer("read_slowly", Answer::json(json!({"tonnes": 12})).held_by(&gate));
    stage.plays(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "read_slowly")]),
        1 => {
            let id = word(request, "call_slow", "background_id");
            check("call_wait", json!({"background_id": id, "wait_seconds": 60}))
        }
        2 => Script::text("It weighs 12 tonnes."),
        _ => unplanned(words, step),
    });
    let (_, mut events) = stage.begin("Weigh the cargo.").await;
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
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    assert_says("operation-started", &begun.turn);
    shop.complete(&begun.operation, &film()).await;
    let (events, _) = shop.to_the_end(&begun.task).await;
    assert_says("operation-finished", &events);
}

#[tokio::test]
async fn a_follow_up_that_the_next_step_reads() {
    let scene = Scene::start(Dialect::OpenAi).await;
    let session = scene.server.session().await;
    let gate = Gate::closed();
    let call = todo("call_plan", "Sail to Breskens");
    scene.model.enqueue(Script::default().say("I plan it.").wait_for(&gate).call(&[call]));
    scene.model.enqueue(Script::text("To Breskens, and back before dark."));
    let events = scene.server.say(&session, "Plan a trip to Breskens.").await;
    gate.reached().await;
    let path = format!("/chat/sessions/{session}/messages/pending");
    let follow_up = json!({"message": "And back before dark."});
    json_of(scene.server.post(&path, &follow_up).send().await.expect("an answer")).await;
    gate.open();
    assert_says("follow-up", &events.all().await);
}

#[tokio::test]
async fn a_compacted_conversation() {
    let scene = Scene::with(Dialect::OpenAi, &[("CHAT_CONTEXT_TOKENS", "40000")]).await;
    let session = scene.server.session().await;
    for question in ["Plan a harbour.", "And the details."] {
        scene.model.enqueue(Script::text(&"a".repeat(60_000)));
        scene.turn(&session, question).await;
    }
    scene.model.enqueue(Script::text("The harbour has two piers and a light."));
    scene.model.enqueue(Script::text("It is called Port Lotse."));
    let (events, _) = scene.turn(&session, "How shall we call it?").await;
    assert_says("compaction", &events);
}
