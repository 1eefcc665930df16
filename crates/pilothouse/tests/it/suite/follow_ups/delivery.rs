//! How follow-ups reach the model: with its next step, after the tool results of the previous one, in the order they
//! were sent.

use serde_json::{Value, json};
use testkit::model_server::{Dialect, Gate, RecordedRequest, Script};

use super::history::history;
use super::scripted::{dialects, todo};
use super::{Scene, drained, list, push, reads, stream_without_words, told, turn_of};
use crate::contract::{End, assert_whole};
use crate::events::{Events, kinds, text_of};

/// Tool results and texts after the last assistant message of a request, in order.
fn tail(request: &RecordedRequest) -> Vec<String> {
    let said = |message: &Value| match message["content"].as_array() {
        Some(blocks) => blocks
            .iter()
            .map(|block| match block["type"].as_str() {
                Some("tool_result") => format!("result {}", block["tool_use_id"]),
                _ => block["text"].as_str().unwrap_or_default().to_owned(),
            })
            .collect(),
        None if message["role"] == "tool" => vec![format!("result {}", message["tool_call_id"])],
        None => vec![message["content"].as_str().unwrap_or_default().to_owned()],
    };
    let messages = request.messages();
    let asked = messages.iter().rposition(|message| message["role"] == "assistant");
    messages[asked.map_or(0, |at| at + 1)..].iter().flat_map(said).collect()
}

#[tokio::test]
async fn follow_ups_reach_the_model_in_order_after_the_results_of_the_step() {
    for dialect in dialects() {
        let scene = Scene::start(dialect).await;
        let session = scene.server.session().await;
        let gate = Gate::closed();
        let calls = [todo("call_a", "one"), todo("call_b", "two")];
        scene.model.enqueue(Script::default().say("Let me see.").wait_for(&gate).call(&calls));
        scene.model.enqueue(Script::text("Done."));
        let events = scene.server.say(&session, "work").await;
        let turn = turn_of(&events);
        gate.reached().await;
        push(&scene.server, &session, "m1", "also this").await;
        push(&scene.server, &session, "m2", "and that").await;
        gate.open();
        let events = events.all().await;
        assert_eq!(assert_whole(&events), End::Finished("stop".into()), "{dialect:?}");
        assert_eq!(drained(&events), [["also this", "and that"]]);
        let asked = &scene.model.requests()[1];
        let mut tail = tail(asked);
        let words = tail.split_off(2);
        tail.sort();
        assert_eq!(tail, ["result \"call_a\"", "result \"call_b\""], "{dialect:?}");
        assert_eq!(words, ["also this\n\nand that"], "{dialect:?}");

        let rows = history(&scene.server, &session).await;
        let roles: Vec<&str> = told(&rows).iter().map(|(role, _)| *role).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "tool", "user", "user", "assistant"]);
        assert_eq!((&rows[4]["id"], &rows[4]["content"]), (&json!("m1"), &json!("also this")));
        assert_eq!((&rows[5]["id"], &rows[5]["content"]), (&json!("m2"), &json!("and that")));
        assert!(rows.iter().all(|row| row["turn_id"] == json!(turn)), "all of it is one turn");
        // The next turn reads the same history.
        scene.model.enqueue(Script::text("Fine."));
        scene.turn(&session, "and now").await;
        scene.model.assert_no_violations();
    }
}

#[tokio::test]
async fn each_step_delivers_the_follow_ups_sent_before_it() {
    let scene = Scene::start(Dialect::Anthropic).await;
    let session = scene.server.session().await;
    let gates = [Gate::closed(), Gate::closed(), Gate::closed()];
    for (number, gate) in gates.iter().enumerate() {
        let call = todo(&format!("call_{number}"), "x");
        scene.model.enqueue(Script::default().wait_for(gate).call(&[call]));
    }
    scene.model.enqueue(Script::text("Done."));
    let events = scene.server.say(&session, "work").await;
    for (number, gate) in gates.iter().enumerate() {
        gate.reached().await;
        // Nothing for the second step.
        if number != 1 {
            push(&scene.server, &session, &format!("m{number}"), &format!("word {number}")).await;
        }
        gate.open();
    }
    let events = events.all().await;
    assert_whole(&events);
    assert_eq!(drained(&events), [["word 0"], ["word 2"]]);
    let heard: Vec<(bool, bool)> = scene
        .model
        .requests()
        .iter()
        .map(|request| (reads(request, "word 0"), reads(request, "word 2")))
        .collect();
    assert_eq!(heard, [(false, false), (true, false), (true, false), (true, true)]);
    let steps: Vec<Value> = list(&scene.server, &session).await["follow_ups"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["step"].clone())
        .collect();
    assert_eq!(steps, [2, 4]);
    history(&scene.server, &session).await;
    scene.model.assert_no_violations();
}

#[tokio::test]
async fn a_follow_up_to_a_queued_turn_is_part_of_its_first_step() {
    for dialect in dialects() {
        let scene = Scene::with(dialect, &[("NUM_COPILOT_WORKERS", "1")]).await;
        let gate = Gate::closed();
        scene.model.enqueue(Script::default().say("Busy").wait_for(&gate));
        let (busy, session) = (scene.server.session().await, scene.server.session().await);
        let first = scene.server.say(&busy, "first").await;
        gate.reached().await;
        let waiting = scene.server.say(&session, "begin").await;
        let path = format!("/chat/sessions/{session}/stream");
        let body = json!({"message": "and also", "message_id": "m1"});
        let sent = scene.server.post(&path, &body).send().await.expect("an answer");
        let about = stream_without_words(sent).await;
        assert_eq!(about["turnId"], json!(turn_of(&waiting)));
        scene.model.enqueue(Script::text("Both."));
        gate.open();
        first.all().await;
        let events = waiting.all().await;
        assert_eq!(assert_whole(&events), End::Finished("stop".into()), "{dialect:?}");
        assert_eq!(text_of(&events), "Both.");
        assert_eq!(kinds(&events)[1], "data-pending-drained", "before the first step");
        let requests = scene.model.requests();
        assert_eq!(requests.len(), 2, "one step answers both");
        assert_eq!(requests[1].last_user_text(), "begin\n\nand also", "{dialect:?}");
        let rows = history(&scene.server, &session).await;
        assert_eq!(told(&rows), [("user", "begin"), ("user", "and also"), ("assistant", "Both.")]);
        assert_eq!(list(&scene.server, &session).await["follow_ups"][0]["step"], 1);
        scene.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_follow_up_is_delivered_with_its_context() {
    let scene = Scene::start(Dialect::OpenAi).await;
    let session = scene.server.session().await;
    let gate = Gate::closed();
    scene.model.enqueue(Script::default().wait_for(&gate).call(&[todo("call_a", "one")]));
    scene.model.enqueue(Script::text("Done."));
    let events = scene.server.say(&session, "work").await;
    gate.reached().await;
    let path = format!("/chat/sessions/{session}/messages/pending");
    let body = json!({"message": "this page too", "context": {"url": "https://example.com/p"}});
    let sent = scene.server.post(&path, &body).send().await.expect("an answer");
    assert_eq!(sent.status(), 200);
    gate.open();
    events.all().await;
    assert!(reads(&scene.model.requests()[1], "https://example.com/p"));
}

#[tokio::test]
async fn regenerating_keeps_delivered_follow_ups() {
    for dialect in dialects() {
        let scene = Scene::start(dialect).await;
        let session = scene.server.session().await;
        let gate = Gate::closed();
        scene.model.enqueue(Script::default().say("First.").wait_for(&gate));
        scene.model.enqueue(Script::text("Second."));
        let events = scene.server.say(&session, "work").await;
        gate.reached().await;
        push(&scene.server, &session, "m1", "also this").await;
        gate.open();
        events.all().await;
        scene.model.enqueue(Script::text("Other."));
        let path = format!("/chat/sessions/{session}/stream");
        let again = json!({"messages": [], "trigger": "regenerate-message"});
        let again = scene.server.post(&path, &again).send().await.expect("an answer");
        let again = Events::of(again).all().await;
        assert_eq!(assert_whole(&again), End::Finished("stop".into()));
        let asked = scene.model.requests().pop().expect("a request");
        assert_eq!(asked.last_user_text(), "work\n\nalso this", "{dialect:?}");
        let rows = scene.messages(&session).await;
        assert_eq!(told(&rows), [("user", "work"), ("user", "also this"), ("assistant", "Other.")]);
        scene.model.assert_no_violations();
    }
}
