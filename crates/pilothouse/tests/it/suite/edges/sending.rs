//! Sending: the same message id twice is one turn, and the same text twice is two.

use serde_json::{Value, json};
use testkit::model_server::{Dialect, Gate, Script};

use super::scripted::ScriptedServer;
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{EventStream, ReceivedEvent, text_of, turn_of};
use crate::server::refusal;

fn plain(id: &str, text: &str) -> Value {
    json!({"message": text, "message_id": id})
}

fn ui(id: &str, text: &str) -> Value {
    let message = json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]});
    json!({"id": "chat", "trigger": "submit-message", "messages": [message]})
}

async fn send(setup: &ScriptedServer, session: &str, body: &Value) -> EventStream {
    let path = format!("/chat/sessions/{session}/stream");
    EventStream::of(setup.server.post(&path, body).send().await.expect("an answer"))
}

#[tokio::test]
async fn fifty_concurrent_equal_messages_are_one_turn_and_one_model_call() {
    for body in [plain, ui] {
        let setup = ScriptedServer::start(Dialect::OpenAi).await;
        let session = setup.server.session().await;
        let gate = Gate::closed();
        setup
            .model
            .enqueue(Script::default().say_in("Just once.", 5).wait_for(&gate).say(" Really."));
        let body = body("m1", "hello");
        let all = futures::future::join_all((0..50).map(|_| send(&setup, &session, &body))).await;
        gate.open();
        let turn = turn_of(&all[0]);
        assert!(all.iter().all(|events| turn_of(events) == turn), "one turn");
        let streams = futures::future::join_all(all.into_iter().map(EventStream::all)).await;
        for stream in &streams {
            assert_eq!(assert_complete(stream), TurnEnd::Finished("stop".to_owned()));
            assert!(*stream == streams[0], "every client gets the same events");
        }
        assert_eq!(text_of(&streams[0]), "Just once. Really.");
        assert_eq!(setup.model.requests().len(), 1);
        assert_eq!(setup.messages(&session).await.len(), 2);
    }
}

#[tokio::test]
async fn a_message_id_is_remembered_across_a_restart() {
    let mut setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::text("Hello."));
    let first = send(&setup, &session, &plain("m1", "hello")).await;
    let turn = turn_of(&first);
    let first: Vec<ReceivedEvent> = first.all().await;
    setup.server.restart();
    let again = send(&setup, &session, &plain("m1", "hello")).await;
    assert_eq!(turn_of(&again), turn);
    assert_eq!(again.all().await, first);
    let path = format!("/chat/sessions/{session}/stream");
    let other = setup.server.post(&path, &plain("m1", "hello!")).send().await.expect("an answer");
    assert_eq!(refusal(other).await, (409, "MESSAGE_ID_REUSED".into()));
    assert_eq!(setup.model.requests().len(), 1);
    // An id belongs to its session, and without one the same text is a new message.
    setup.model.respond_with(|_| Script::text("Hello again."));
    let elsewhere = setup.server.session().await;
    for (session, body) in [
        (&elsewhere, plain("m1", "hello")),
        (&session, plain("m2", "hello")),
        (&session, json!({"message": "hello"})),
    ] {
        let events = send(&setup, session, &body).await;
        assert_ne!(turn_of(&events), turn);
        assert_eq!(text_of(&events.all().await), "Hello again.");
    }
    assert_eq!(setup.model.requests().len(), 4);
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn regenerating_removes_the_old_response_and_what_followed() {
    for dialect in super::scripted::dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        for answer in ["First.", "Second."] {
            setup.model.enqueue(Script::text(answer));
            setup.turn(&session, &format!("say {answer}")).await;
        }
        let rows = setup.messages(&session).await;
        let regenerate =
            |id: &Value| json!({"messages": [], "trigger": "regenerate-message", "messageId": id});
        setup.model.enqueue(Script::text("Other."));
        let events = send(&setup, &session, &regenerate(&rows[1]["id"])).await.all().await;
        assert_eq!(
            (assert_complete(&events), text_of(&events)),
            (TurnEnd::Finished("stop".to_owned()), "Other.".to_owned())
        );
        let asked = setup.model.requests().pop().expect("a request");
        assert_eq!(asked.last_user_text(), "say First.");
        assert!(!asked.body.to_string().contains("Second."), "{}", asked.body);
        let rows = setup.messages(&session).await;
        let words: Vec<&str> = rows.iter().filter_map(|row| row["content"].as_str()).collect();
        assert_eq!(words, ["say First.", "Other."]);
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_busy_session_cannot_regenerate() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("Working").wait_for(&gate));
    let events = send(&setup, &session, &plain("m1", "work")).await;
    gate.reached().await;
    let path = format!("/chat/sessions/{session}/stream");
    let again = json!({"messages": [], "trigger": "regenerate-message"});
    let refused = setup.server.post(&path, &again).send().await.expect("an answer");
    assert_eq!(refusal(refused).await, (409, "SESSION_BUSY".into()));
    gate.open();
    assert_eq!(text_of(&events.all().await), "Working");
}
