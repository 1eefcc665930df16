//! Follow-ups that a turn ended without delivering: a cancel drops them, a failure returns them.

use std::time::Duration;

use serde_json::json;
use testkit::model_server::{Dialect, Gate, Script};

use super::scripted::dialects;
use super::{ScriptedServer, list, push, request_contains, role_and_content, states, try_push};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{Ending, EventStream, text_of, turn_of};
use crate::history::history;
use crate::scripts::todo;
use crate::server::refusal;
use crate::turn_requests::send;

#[tokio::test]
async fn a_cancel_drops_waiting_follow_ups() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::default().say_in("Working", 1).hang());
        let mut events = setup.server.say(&session, "work").await;
        let mut seen = events.until_seen("text-delta").await;
        push(&setup.server, &session, "m1", "forget me").await;
        push(&setup.server, &session, "m2", "me too").await;
        assert_eq!(setup.server.cancel(&session).await["cancelled"], true);
        let (rest, ending) = events.rest().await;
        assert_eq!(ending, Ending::Complete);
        seen.extend(rest);
        assert_eq!(assert_complete(&seen), TurnEnd::Aborted);
        let dropped = |id: &str| (id.to_owned(), "dropped".to_owned());
        assert_eq!(states(&setup.server, &session).await, [dropped("m1"), dropped("m2")]);
        let waiting = list(&setup.server, &session).await;
        assert_eq!((&waiting["messages"], &waiting["count"]), (&json!([]), &json!(0)));
        let rows = history(&setup.server, &session).await;
        assert!(
            !role_and_content(&rows)
                .iter()
                .any(|(_, words)| ["forget me", "me too"].contains(words))
        );
        // It was not delivered, so the same message may be sent again.
        setup.model.enqueue(Script::text("Heard."));
        let again =
            send(&setup.server, &session, "m1", "forget me").send().await.expect("an answer");
        assert_eq!(text_of(&EventStream::of(again).all().await), "Heard.");
        let asked = setup.model.requests().pop().expect("a request");
        assert!(!request_contains(&asked, "me too"), "a dropped follow-up is never delivered");
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn canceling_a_queued_turn_drops_its_follow_ups() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("NUM_COPILOT_WORKERS", "1")]).await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("Busy").wait_for(&gate));
    let (busy, session) = (setup.server.session().await, setup.server.session().await);
    let first = setup.server.say(&busy, "first").await;
    gate.reached().await;
    let waiting = setup.server.say(&session, "begin").await;
    push(&setup.server, &session, "m1", "and also").await;
    assert_eq!(setup.server.cancel(&session).await["cancelled"], true);
    assert_eq!(assert_complete(&waiting.all().await), TurnEnd::Aborted);
    assert_eq!(states(&setup.server, &session).await, [("m1".into(), "dropped".into())]);
    gate.open();
    first.all().await;
    assert_eq!(setup.model.requests().len(), 1, "it never reached the model");
}

#[tokio::test]
async fn a_turn_that_is_being_cancelled_accepts_no_follow_up() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().say_in("Working", 1).hang());
    setup.model.respond_with(|request| Script::text(&format!("To {}.", request.last_user_text())));
    let mut events = setup.server.say(&session, "work").await;
    events.until("text-delta").await;
    let path = format!("/chat/sessions/{session}/stream");
    let body = json!({"message": "something new", "message_id": "m1"});
    let stopped = setup.server.cancel(&session);
    let sent = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        setup.server.post(&path, &body).send().await.expect("an answer")
    };
    let (_, sent) = tokio::join!(stopped, sent);
    assert_eq!(sent.status(), 200);
    drop(sent.bytes().await.expect("a stream that ends"));
    let settled = states(&setup.server, &session).await;
    let rows = history(&setup.server, &session).await;
    let told = role_and_content(&rows);
    // Depending on which request came first, it is a turn of its own that was answered, or dropped with the canceled
    // turn.
    let answered = told.contains(&("assistant", "To something new."));
    if settled.is_empty() {
        assert!(told.contains(&("user", "something new")) && answered, "{told:?}");
    } else {
        assert_eq!(settled, [("m1".into(), "dropped".into())]);
        assert!(!told.contains(&("user", "something new")) && !answered, "{told:?}");
    }
}

#[tokio::test]
async fn a_failure_returns_waiting_follow_ups_and_resending_one_starts_a_turn() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let gate = Gate::closed();
        setup.model.enqueue(
            Script::default()
                .say("Work")
                .wait_for(&gate)
                .then_error("overloaded_error", "Overloaded"),
        );
        let events = setup.server.say(&session, "work").await;
        let failed = turn_of(&events);
        gate.reached().await;
        push(&setup.server, &session, "m1", "and this").await;
        push(&setup.server, &session, "m2", "and that").await;
        gate.open();
        assert!(matches!(assert_complete(&events.all().await), TurnEnd::Failed(_)), "{dialect:?}");
        let returned = |id: &str| (id.to_owned(), "returned".to_owned());
        assert_eq!(states(&setup.server, &session).await, [returned("m1"), returned("m2")]);
        assert!(
            !role_and_content(&history(&setup.server, &session).await)
                .contains(&("user", "and this"))
        );
        let other = try_push(&setup.server, &session, "m1", "another text").await;
        assert_eq!(refusal(other).await.0, 409);
        // With the same id it is the same message, sent again.
        setup.model.enqueue(Script::text("Now then."));
        let again =
            send(&setup.server, &session, "m1", "and this").send().await.expect("an answer");
        let again = EventStream::of(again);
        assert_ne!(turn_of(&again), failed);
        assert_eq!(text_of(&again.all().await), "Now then.");
        assert_eq!(states(&setup.server, &session).await, [returned("m2")], "it is a turn now");
        let rows = history(&setup.server, &session).await;
        assert_eq!(rows.iter().filter(|row| row["id"] == "m1").count(), 1);
        // The other one becomes a follow-up of another turn and is delivered there.
        let gate = Gate::closed();
        setup.model.enqueue(Script::default().wait_for(&gate).call(&[todo("call_a", "x")]));
        setup.model.enqueue(Script::text("All of it."));
        let events = setup.server.say(&session, "more work").await;
        gate.reached().await;
        push(&setup.server, &session, "m2", "and that").await;
        gate.open();
        events.all().await;
        assert_eq!(
            states(&setup.server, &session).await,
            [("m2".into(), "delivered".into())],
            "each ends in one state"
        );
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn follow_ups_are_deleted_with_their_session() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().say_in("Working", 1).hang());
    let mut events = setup.server.say(&session, "work").await;
    events.until("text-delta").await;
    push(&setup.server, &session, "m1", "a-word-to-look-for").await;
    let path = setup.server.api(&format!("/chat/sessions/{session}"));
    let deleted = setup.server.client.delete(path).send().await.expect("an answer");
    assert_eq!(deleted.status(), 204);
    assert_eq!(try_push(&setup.server, &session, "m2", "more").await.status(), 404);
    let path = format!("/chat/sessions/{session}/messages/pending");
    assert_eq!(setup.server.get(&path).send().await.expect("an answer").status(), 404);
}

/// A follow-up needs a further step, and the number of steps of a turn is limited.
#[tokio::test]
async fn a_follow_up_to_a_turn_without_further_steps_is_returned() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("CHAT_MAX_STEPS", "1")]).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("All I can say.").wait_for(&gate));
    let events = setup.server.say(&session, "work").await;
    gate.reached().await;
    push(&setup.server, &session, "m1", "one more").await;
    gate.open();
    assert_eq!(assert_complete(&events.all().await), TurnEnd::Failed("max_turns_exhausted".into()));
    assert_eq!(states(&setup.server, &session).await, [("m1".into(), "returned".into())]);
    let rows = history(&setup.server, &session).await;
    assert_eq!(role_and_content(&rows)[..2], [("user", "work"), ("assistant", "All I can say.")]);
    setup.model.enqueue(Script::text("Heard."));
    let again = send(&setup.server, &session, "m1", "one more").send().await.expect("an answer");
    assert_eq!(text_of(&EventStream::of(again).all().await), "Heard.");
    setup.model.assert_no_violations();
}
