//! Follow-ups that a turn ended without delivering: a cancel drops them, a failure returns them.

use std::time::Duration;

use serde_json::json;
use testkit::model_server::{Dialect, Gate, Script};

use super::guarantees::send;
use super::history::history;
use super::scripted::{dialects, todo};
use super::{Scene, list, push, reads, states, told, try_push, turn_of};
use crate::contract::{End, assert_whole};
use crate::events::{Ending, Events, text_of};
use crate::server::refusal;

#[tokio::test]
async fn a_cancel_drops_waiting_follow_ups() {
    for dialect in dialects() {
        let scene = Scene::start(dialect).await;
        let session = scene.server.session().await;
        scene.model.enqueue(Script::default().say_in("Working", 1).hang());
        let mut events = scene.server.say(&session, "work").await;
        let mut seen = events.until_seen("text-delta").await;
        push(&scene.server, &session, "m1", "forget me").await;
        push(&scene.server, &session, "m2", "me too").await;
        assert_eq!(scene.server.cancel(&session).await["cancelled"], true);
        let (rest, ending) = events.rest().await;
        assert_eq!(ending, Ending::Complete);
        seen.extend(rest);
        assert_eq!(assert_whole(&seen), End::Aborted);
        let dropped = |id: &str| (id.to_owned(), "dropped".to_owned());
        assert_eq!(states(&scene.server, &session).await, [dropped("m1"), dropped("m2")]);
        let waiting = list(&scene.server, &session).await;
        assert_eq!((&waiting["messages"], &waiting["count"]), (&json!([]), &json!(0)));
        let rows = history(&scene.server, &session).await;
        assert!(!told(&rows).iter().any(|(_, words)| ["forget me", "me too"].contains(words)));
        // It was not delivered, so the same message may be sent again.
        scene.model.enqueue(Script::text("Heard."));
        let again =
            send(&scene.server, &session, "m1", "forget me").send().await.expect("an answer");
        assert_eq!(text_of(&Events::of(again).all().await), "Heard.");
        let asked = scene.model.requests().pop().expect("a request");
        assert!(!reads(&asked, "me too"), "what was dropped is never heard");
        scene.model.assert_no_violations();
    }
}

#[tokio::test]
async fn canceling_a_queued_turn_drops_its_follow_ups() {
    let scene = Scene::with(Dialect::OpenAi, &[("NUM_COPILOT_WORKERS", "1")]).await;
    let gate = Gate::closed();
    scene.model.enqueue(Script::default().say("Busy").wait_for(&gate));
    let (busy, session) = (scene.server.session().await, scene.server.session().await);
    let first = scene.server.say(&busy, "first").await;
    gate.reached().await;
    let waiting = scene.server.say(&session, "begin").await;
    push(&scene.server, &session, "m1", "and also").await;
    assert_eq!(scene.server.cancel(&session).await["cancelled"], true);
    assert_eq!(assert_whole(&waiting.all().await), End::Aborted);
    assert_eq!(states(&scene.server, &session).await, [("m1".into(), "dropped".into())]);
    gate.open();
    first.all().await;
    assert_eq!(scene.model.requests().len(), 1, "it never reached the model");
}

#[tokio::test]
async fn a_turn_that_is_being_cancelled_accepts_no_follow_up() {
    let scene = Scene::start(Dialect::OpenAi).await;
    let session = scene.server.session().await;
    scene.model.enqueue(Script::default().say_in("Working", 1).hang());
    scene.model.respond_with(|request| Script::text(&format!("To {}.", request.last_user_text())));
    let mut events = scene.server.say(&session, "work").await;
    events.until("text-delta").await;
    let path = format!("/chat/sessions/{session}/stream");
    let body = json!({"message": "something new", "message_id": "m1"});
    let stopped = scene.server.cancel(&session);
    let sent = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        scene.server.post(&path, &body).send().await.expect("an answer")
    };
    let (_, sent) = tokio::join!(stopped, sent);
    assert_eq!(sent.status(), 200);
    drop(sent.bytes().await.expect("a stream that ends"));
    let settled = states(&scene.server, &session).await;
    let rows = history(&scene.server, &session).await;
    let told = told(&rows);
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
        let scene = Scene::start(dialect).await;
        let session = scene.server.session().await;
        let gate = Gate::closed();
        scene.model.enqueue(
            Script::default()
                .say("Work")
                .wait_for(&gate)
                .then_error("overloaded_error", "Overloaded"),
        );
        let events = scene.server.say(&session, "work").await;
        let failed = turn_of(&events);
        gate.reached().await;
        push(&scene.server, &session, "m1", "and this").await;
        push(&scene.server, &session, "m2", "and that").await;
        gate.open();
        assert!(matches!(assert_whole(&events.all().await), End::Failed(_)), "{dialect:?}");
        let returned = |id: &str| (id.to_owned(), "returned".to_owned());
        assert_eq!(states(&scene.server, &session).await, [returned("m1"), returned("m2")]);
        assert!(!told(&history(&scene.server, &session).await).contains(&("user", "and this")));
        let other = try_push(&scene.server, &session, "m1", "another text").await;
        assert_eq!(refusal(other).await.0, 409);
        // With the same id it is the same message, sent again.
        scene.model.enqueue(Script::text("Now then."));
        let again =
            send(&scene.server, &session, "m1", "and this").send().await.expect("an answer");
        let again = Events::of(again);
        assert_ne!(turn_of(&again), failed);
        assert_eq!(text_of(&again.all().await), "Now then.");
        assert_eq!(states(&scene.server, &session).await, [returned("m2")], "it is a turn now");
        let rows = history(&scene.server, &session).await;
        assert_eq!(rows.iter().filter(|row| row["id"] == "m1").count(), 1);
        // The other one becomes a follow-up of another turn and is delivered there.
        let gate = Gate::closed();
        scene.model.enqueue(Script::default().wait_for(&gate).call(&[todo("call_a", "x")]));
        scene.model.enqueue(Script::text("All of it."));
        let events = scene.server.say(&session, "more work").await;
        gate.reached().await;
        push(&scene.server, &session, "m2", "and that").await;
        gate.open();
        events.all().await;
        assert_eq!(
            states(&scene.server, &session).await,
            [("m2".into(), "delivered".into())],
            "each ends in one state"
        );
        scene.model.assert_no_violations();
    }
}

#[tokio::test]
async fn follow_ups_are_deleted_with_their_session() {
    let scene = Scene::start(Dialect::OpenAi).await;
    let session = scene.server.session().await;
    scene.model.enqueue(Script::default().say_in("Working", 1).hang());
    let mut events = scene.server.say(&session, "work").await;
    events.until("text-delta").await;
    push(&scene.server, &session, "m1", "a-word-to-look-for").await;
    let path = scene.server.api(&format!("/chat/sessions/{session}"));
    let deleted = scene.server.client.delete(path).send().await.expect("an answer");
    assert_eq!(deleted.status(), 204);
    assert_eq!(try_push(&scene.server, &session, "m2", "more").await.status(), 404);
    let path = format!("/chat/sessions/{session}/messages/pending");
    assert_eq!(scene.server.get(&path).send().await.expect("an answer").status(), 404);
}

/// A follow-up needs a further step, and the number of steps of a turn is limited.
#[tokio::test]
async fn a_follow_up_to_a_turn_without_further_steps_is_returned() {
    let scene = Scene::with(Dialect::OpenAi, &[("CHAT_MAX_STEPS", "1")]).await;
    let session = scene.server.session().await;
    let gate = Gate::closed();
    scene.model.enqueue(Script::default().say("All I can say.").wait_for(&gate));
    let events = scene.server.say(&session, "work").await;
    gate.reached().await;
    push(&scene.server, &session, "m1", "one more").await;
    gate.open();
    assert_eq!(assert_whole(&events.all().await), End::Failed("max_turns_exhausted".into()));
    assert_eq!(states(&scene.server, &session).await, [("m1".into(), "returned".into())]);
    let rows = history(&scene.server, &session).await;
    assert_eq!(told(&rows)[..2], [("user", "work"), ("assistant", "All I can say.")]);
    scene.model.enqueue(Script::text("Heard."));
    let again = send(&scene.server, &session, "m1", "one more").send().await.expect("an answer");
    assert_eq!(text_of(&Events::of(again).all().await), "Heard.");
    scene.model.assert_no_violations();
}
