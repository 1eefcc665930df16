//! A message sent while the model gives what would be its final response: the turn continues instead of ending.

use serde_json::json;
use testkit::model_server::{ConnectionCut, Dialect, Gate, Script, ScriptedUsage};

use super::scripted::dialects;
use super::{ScriptedServer, check_background, drained, push, role_and_content, states};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{first, kinds, output, text_of, turn_of};
use crate::history::history;
use crate::scripts::bash;
use crate::server::eventually;
use crate::turn_requests::status_of;

#[tokio::test]
async fn a_turn_with_follow_ups_after_its_response_continues_to_a_single_end() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let (first_gate, second_gate) = (Gate::closed(), Gate::closed());
        let usage =
            ScriptedUsage { prompt_tokens: 100, completion_tokens: 10, cache_read_tokens: 0 };
        for (words, gate) in [("First.", &first_gate), ("Second.", &second_gate)] {
            setup.model.enqueue(Script::default().usage(usage).say(words).wait_for(gate));
        }
        setup.model.enqueue(Script::default().usage(usage).say("Third."));
        let events = setup.server.say(&session, "work").await;
        let turn = turn_of(&events);
        first_gate.reached().await;
        push(&setup.server, &session, "m1", "one more").await;
        first_gate.open();
        second_gate.reached().await;
        push(&setup.server, &session, "m2", "and another").await;
        second_gate.open();
        let events = events.all().await;
        assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".into()), "{dialect:?}");
        assert_eq!(text_of(&events), "First.Second.Third.");
        assert_eq!(drained(&events), [["one more"], ["and another"]]);
        let steps = kinds(&events).iter().filter(|kind| **kind == "start-step").count();
        assert_eq!(steps, 3);
        let used = &first(&events, "data-usage")["data"];
        assert_eq!((&used["promptTokens"], &used["completionTokens"]), (&json!(300), &json!(30)));

        let rows = history(&setup.server, &session).await;
        let expected = [
            ("user", "work"),
            ("assistant", "First."),
            ("user", "one more"),
            ("assistant", "Second."),
            ("user", "and another"),
            ("assistant", "Third."),
        ];
        assert_eq!(role_and_content(&rows), expected, "{dialect:?}");
        assert!(rows.iter().all(|row| row["turn_id"] == json!(turn)));
        assert_eq!(status_of(&setup.server, &turn).await, "completed");
        assert_eq!(setup.model.requests().len(), 3);
        // The session is free, and the next message starts a new turn.
        setup.model.enqueue(Script::text("Fourth."));
        assert_eq!(text_of(&setup.turn(&session, "next").await.0), "Fourth.");
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn canceling_a_continued_turn_keeps_both_responses() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("First.").wait_for(&gate));
    setup.model.enqueue(Script::default().say_in("Sec", 1).hang());
    let mut events = setup.server.say(&session, "work").await;
    gate.reached().await;
    push(&setup.server, &session, "m1", "one more").await;
    gate.open();
    let mut seen = events.until_seen("data-pending-drained").await;
    seen.extend(events.until_seen("text-delta").await);
    assert_eq!(setup.server.cancel(&session).await["cancelled"], true);
    seen.extend(events.rest().await.0);
    assert_eq!(assert_complete(&seen), TurnEnd::Aborted);
    let rows = history(&setup.server, &session).await;
    assert_eq!(
        role_and_content(&rows)[..4],
        [("user", "work"), ("assistant", "First."), ("user", "one more"), ("assistant", "Sec")]
    );
    assert_eq!(states(&setup.server, &session).await, [("m1".into(), "delivered".into())]);
}

#[tokio::test]
async fn a_failure_of_a_continued_turn_keeps_the_first_response() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("First.").wait_for(&gate));
    setup.model.enqueue(Script::default().say("Sec").cut(ConnectionCut::Close));
    let events = setup.server.say(&session, "work").await;
    gate.reached().await;
    push(&setup.server, &session, "m1", "one more").await;
    gate.open();
    let events = events.all().await;
    assert!(matches!(assert_complete(&events), TurnEnd::Failed(_)));
    let rows = history(&setup.server, &session).await;
    assert_eq!(
        role_and_content(&rows)[..3],
        [("user", "work"), ("assistant", "First."), ("user", "one more")]
    );
    setup.model.enqueue(Script::text("Fine."));
    assert_eq!(setup.turn(&session, "again").await.1, TurnEnd::Finished("stop".into()));
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_continued_turn_keeps_its_background_calls() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("CHAT_TOOL_BUDGET_SECONDS", "1")]).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    let command = "while ! test -e finish; do sleep 0.05; done; echo finished";
    setup.model.enqueue(Script::default().call(&[bash("call_a", command)]));
    setup.model.enqueue(Script::default().say("It takes a while.").wait_for(&gate));
    setup.model.enqueue(Script::default().call(&[check_background("call_b")]));
    setup.model.enqueue(Script::text("It is still at work."));
    let events = setup.server.say(&session, "work").await;
    gate.reached().await;
    push(&setup.server, &session, "m1", "how is it doing?").await;
    gate.open();
    let events = events.all().await;
    assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".into()));
    assert_eq!(output(&events, "call_a")["type"], "background");
    let handle = &output(&events, "call_a")["background_id"];
    let listed = output(&events, "call_b")["tools"].as_array().expect("a list");
    let [call] = &listed[..] else { panic!("one call: {listed:?}") };
    assert_eq!((&call["background_id"], &call["done"]), (handle, &json!(false)), "it works on");
    let rows = history(&setup.server, &session).await;
    assert!(role_and_content(&rows).contains(&("assistant", "It takes a while.")));
    // The background call ends with the turn.
    let gone =
        async || setup.server.read_session(&session).await["active_stream"].is_null().then_some(());
    eventually("the session at rest", gone).await;
    setup.model.assert_no_violations();
}
