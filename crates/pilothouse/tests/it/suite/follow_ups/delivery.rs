//! How follow-ups reach the model: with its next step, after the tool results of the previous one, in the order they
//! were sent.

use serde_json::{Value, json};
use testkit::model_server::{Dialect, Gate, RecordedRequest, Script};

use super::scripted::dialects;
use super::{
    ScriptedServer, drained, list, push, read_follow_up_stream, request_contains, role_and_content,
};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{EventStream, kinds, text_of, turn_of};
use crate::history::history;
use crate::scripts::todo;

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
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let gate = Gate::closed();
        let calls = [todo("call_a", "one"), todo("call_b", "two")];
        setup.model.enqueue(Script::default().say("Let me see.").wait_for(&gate).call(&calls));
        setup.model.enqueue(Script::text("Done."));
        let events = setup.server.say(&session, "work").await;
        let turn = turn_of(&events);
        gate.reached().await;
        push(&setup.server, &session, "m1", "also this").await;
        push(&setup.server, &session, "m2", "and that").await;
        gate.open();
        let events = events.all().await;
        assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert_eq!(drained(&events), [["also this", "and that"]]);
        let asked = &setup.model.requests()[1];
        let mut tail = tail(asked);
        let words = tail.split_off(2);
        tail.sort();
        assert_eq!(tail, ["result \"call_a\"", "result \"call_b\""], "{dialect:?}");
        assert_eq!(words, ["also this\n\nand that"], "{dialect:?}");

        let rows = history(&setup.server, &session).await;
        let roles: Vec<&str> = role_and_content(&rows).iter().map(|(role, _)| *role).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "tool", "user", "user", "assistant"]);
        assert_eq!((&rows[4]["id"], &rows[4]["content"]), (&json!("m1"), &json!("also this")));
        assert_eq!((&rows[5]["id"], &rows[5]["content"]), (&json!("m2"), &json!("and that")));
        assert!(
            rows.iter().all(|row| row["turn_id"] == json!(turn)),
            "all rows belong to one turn"
        );
        // The next turn reads the same history.
        setup.model.enqueue(Script::text("Fine."));
        setup.turn(&session, "and now").await;
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn each_step_delivers_the_follow_ups_sent_before_it() {
    let setup = ScriptedServer::start(Dialect::Anthropic).await;
    let session = setup.server.session().await;
    let gates = [Gate::closed(), Gate::closed(), Gate::closed()];
    for (number, gate) in gates.iter().enumerate() {
        let call = todo(&format!("call_{number}"), "x");
        setup.model.enqueue(Script::default().wait_for(gate).call(&[call]));
    }
    setup.model.enqueue(Script::text("Done."));
    let events = setup.server.say(&session, "work").await;
    for (number, gate) in gates.iter().enumerate() {
        gate.reached().await;
        // Nothing for the second step.
        if number != 1 {
            push(&setup.server, &session, &format!("m{number}"), &format!("word {number}")).await;
        }
        gate.open();
    }
    let events = events.all().await;
    assert_complete(&events);
    assert_eq!(drained(&events), [["word 0"], ["word 2"]]);
    let heard: Vec<(bool, bool)> = setup
        .model
        .requests()
        .iter()
        .map(|request| (request_contains(request, "word 0"), request_contains(request, "word 2")))
        .collect();
    assert_eq!(heard, [(false, false), (true, false), (true, false), (true, true)]);
    let steps: Vec<Value> = list(&setup.server, &session).await["follow_ups"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["step"].clone())
        .collect();
    assert_eq!(steps, [2, 4]);
    history(&setup.server, &session).await;
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_follow_up_to_a_queued_turn_is_part_of_its_first_step() {
    for dialect in dialects() {
        let setup = ScriptedServer::with(dialect, &[("NUM_COPILOT_WORKERS", "1")]).await;
        let gate = Gate::closed();
        setup.model.enqueue(Script::default().say("Busy").wait_for(&gate));
        let (busy, session) = (setup.server.session().await, setup.server.session().await);
        let first = setup.server.say(&busy, "first").await;
        gate.reached().await;
        let waiting = setup.server.say(&session, "begin").await;
        let path = format!("/chat/sessions/{session}/stream");
        let body = json!({"message": "and also", "message_id": "m1"});
        let sent = setup.server.post(&path, &body).send().await.expect("an answer");
        let about = read_follow_up_stream(sent).await;
        assert_eq!(about["turnId"], json!(turn_of(&waiting)));
        setup.model.enqueue(Script::text("Both."));
        gate.open();
        first.all().await;
        let events = waiting.all().await;
        assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert_eq!(text_of(&events), "Both.");
        assert_eq!(kinds(&events)[1], "data-pending-drained", "before the first step");
        let requests = setup.model.requests();
        assert_eq!(requests.len(), 2, "one step answers both");
        assert_eq!(requests[1].last_user_text(), "begin\n\nand also", "{dialect:?}");
        let rows = history(&setup.server, &session).await;
        assert_eq!(
            role_and_content(&rows),
            [("user", "begin"), ("user", "and also"), ("assistant", "Both.")]
        );
        assert_eq!(list(&setup.server, &session).await["follow_ups"][0]["step"], 1);
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_follow_up_is_delivered_with_its_context() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().wait_for(&gate).call(&[todo("call_a", "one")]));
    setup.model.enqueue(Script::text("Done."));
    let events = setup.server.say(&session, "work").await;
    gate.reached().await;
    let path = format!("/chat/sessions/{session}/messages/pending");
    let body = json!({"message": "this page too", "context": {"url": "https://example.com/p"}});
    let sent = setup.server.post(&path, &body).send().await.expect("an answer");
    assert_eq!(sent.status(), 200);
    gate.open();
    events.all().await;
    assert!(request_contains(&setup.model.requests()[1], "https://example.com/p"));
}

#[tokio::test]
async fn regenerating_keeps_delivered_follow_ups() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let gate = Gate::closed();
        setup.model.enqueue(Script::default().say("First.").wait_for(&gate));
        setup.model.enqueue(Script::text("Second."));
        let events = setup.server.say(&session, "work").await;
        gate.reached().await;
        push(&setup.server, &session, "m1", "also this").await;
        gate.open();
        events.all().await;
        setup.model.enqueue(Script::text("Other."));
        let path = format!("/chat/sessions/{session}/stream");
        let again = json!({"messages": [], "trigger": "regenerate-message"});
        let again = setup.server.post(&path, &again).send().await.expect("an answer");
        let again = EventStream::of(again).all().await;
        assert_eq!(assert_complete(&again), TurnEnd::Finished("stop".into()));
        let asked = setup.model.requests().pop().expect("a request");
        assert_eq!(asked.last_user_text(), "work\n\nalso this", "{dialect:?}");
        let rows = setup.messages(&session).await;
        assert_eq!(
            role_and_content(&rows),
            [("user", "work"), ("user", "also this"), ("assistant", "Other.")]
        );
        setup.model.assert_no_violations();
    }
}
