//! The responses to a sender of a follow-up: waiting, already known, no running turn, too many waiting.

use serde_json::{Value, json};
use testkit::model_server::{Dialect, Gate, Script};

use super::{ScriptedServer, list, push, read_follow_up_stream, states, try_push};
use crate::events::{EventStream, text_of, turn_of};
use crate::scripts::todo;
use crate::server::{id_of, json_of, refusal};
use crate::tokens::{KEY, token};
use crate::turn_requests::send;

/// A session whose turn is held in its first step, and calls a tool and responds once the gate opens.
async fn busy() -> (ScriptedServer, String, Gate, EventStream) {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    calls_after(&setup, &gate);
    let events = setup.server.say(&session, "work").await;
    gate.reached().await;
    (setup, session, gate, events)
}

fn calls_after(setup: &ScriptedServer, gate: &Gate) {
    setup.model.enqueue(Script::default().say("Well").wait_for(gate).call(&[todo("call_a", "x")]));
    setup.model.enqueue(Script::text("Done."));
}

#[tokio::test]
async fn a_message_to_a_busy_session_gets_a_stream_without_text() {
    let (setup, session, gate, events) = busy().await;
    let path = format!("/chat/sessions/{session}/stream");
    let parts = json!([{"type": "text", "text": "two"}]);
    let ui = json!({"messages": [{"id": "m2", "role": "user", "parts": parts}]});
    let bodies =
        [json!({"message": "one", "message_id": "m1"}), ui, json!({"message": "without an id"})];
    for body in &bodies {
        let response = setup.server.post(&path, body).send().await.expect("an answer");
        let about = read_follow_up_stream(response).await;
        assert_eq!(about["turnId"], json!(turn_of(&events)));
        assert_eq!(about["state"], "pending");
    }
    let waiting = list(&setup.server, &session).await;
    assert_eq!(waiting["messages"], json!(["one", "two", "without an id"]));
    assert_eq!(waiting["count"], 3);
    gate.open();
    assert_eq!(text_of(&events.all().await), "WellDone.", "one turn answers all of them");
    assert_eq!(setup.model.requests().len(), 2);
    let waiting = list(&setup.server, &session).await;
    assert_eq!((&waiting["messages"], &waiting["count"]), (&json!([]), &json!(0)));
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_sender_gets_the_number_of_waiting_follow_ups_and_the_list_their_state() {
    let (setup, session, gate, events) = busy().await;
    for (number, id) in ["m1", "m2", "m3"].iter().enumerate() {
        let told = push(&setup.server, &session, id, &format!("text of {id}")).await;
        assert_eq!(told["buffer_length"], number + 1);
        assert_eq!(
            (&told["max_buffer_length"], &told["turn_in_flight"]),
            (&json!(10), &json!(true))
        );
        let follow_up = &told["follow_up"];
        assert_eq!((&follow_up["id"], &follow_up["state"]), (&json!(id), &json!("pending")));
        assert_eq!(follow_up["turn_id"], json!(turn_of(&events)));
        assert_eq!(follow_up.get("step"), None);
    }
    gate.open();
    events.all().await;
    let after = list(&setup.server, &session).await;
    let follow_ups = after["follow_ups"].as_array().expect("a list");
    assert_eq!(follow_ups.len(), 3);
    for (one, id) in follow_ups.iter().zip(["m1", "m2", "m3"]) {
        assert_eq!(
            (&one["id"], &one["state"], &one["step"]),
            (&json!(id), &json!("delivered"), &json!(2))
        );
        assert_eq!(one["message"], json!(format!("text of {id}")));
    }
}

#[tokio::test]
async fn the_same_id_is_one_follow_up_and_another_text_with_it_is_refused() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    calls_after(&setup, &gate);
    let events = send(&setup.server, &session, "m0", "work").send().await.expect("an answer");
    gate.reached().await;
    push(&setup.server, &session, "m1", "more").await;
    let reused = (409, "MESSAGE_ID_REUSED".to_owned());
    let known = async |state: &str| {
        // Through either route, and repeatedly.
        for _ in 0..2 {
            let told = push(&setup.server, &session, "m1", "more").await;
            assert_eq!(told["follow_up"]["state"], state);
            let again = send(&setup.server, &session, "m1", "more").send().await;
            let about = read_follow_up_stream(again.expect("an answer")).await;
            assert_eq!(
                about,
                json!({"id": "m1", "turnId": told["follow_up"]["turn_id"], "state": state})
            );
        }
        let other = try_push(&setup.server, &session, "m1", "something else").await;
        assert_eq!(refusal(other).await, reused);
        let other = send(&setup.server, &session, "m1", "something else").send().await;
        assert_eq!(refusal(other.expect("an answer")).await, reused);
        let of_the_turn = try_push(&setup.server, &session, "m0", "work").await;
        assert_eq!(refusal(of_the_turn).await, reused, "that id started a turn");
        assert_eq!(states(&setup.server, &session).await, [("m1".into(), state.to_owned())]);
    };
    known("pending").await;
    gate.open();
    EventStream::of(events).all().await;
    known("delivered").await;
    let rows = setup.messages(&session).await;
    assert_eq!(rows.iter().filter(|row| row["id"] == "m1").count(), 1);
    assert_eq!(setup.model.requests().len(), 2, "it started no turn");
}

#[tokio::test]
async fn a_follow_up_without_a_running_turn_is_refused() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let nothing = (409, "NO_ACTIVE_TURN".to_owned());
    assert_eq!(refusal(try_push(&setup.server, &session, "m1", "hello").await).await, nothing);
    setup.model.enqueue(Script::text("Done."));
    setup.turn(&session, "work").await;
    assert_eq!(refusal(try_push(&setup.server, &session, "m1", "hello").await).await, nothing);
    assert_eq!(states(&setup.server, &session).await, []);
    let elsewhere = try_push(&setup.server, "no-such-session", "m1", "hello").await;
    assert_eq!(elsewhere.status(), 404);
    // The refused message did not use up its id.
    setup.model.enqueue(Script::text("Hello."));
    let events = send(&setup.server, &session, "m1", "hello").send().await.expect("an answer");
    assert_eq!(text_of(&EventStream::of(events).all().await), "Hello.");
}

#[tokio::test]
async fn invalid_follow_ups_are_refused() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().say_in("Well", 1).hang());
    let mut events = setup.server.say(&session, "work").await;
    events.until("text-delta").await;
    let path = format!("/chat/sessions/{session}/messages/pending");
    let bodies: [(Value, &str); 5] = [
        (json!({"message": ""}), "MESSAGE_EMPTY"),
        (json!({"message": "x".repeat(64_001)}), "MESSAGE_TOO_LONG"),
        (json!({"message": "x", "messages": []}), "VALIDATION_ERROR"),
        (json!({"message": "x", "message_id": ""}), "VALIDATION_ERROR"),
        (json!({"message": "x", "file_ids": vec!["f"; 21]}), "TOO_MANY_FILES"),
    ];
    for (body, code) in bodies {
        let refused = setup.server.post(&path, &body).send().await.expect("an answer");
        assert_eq!(refusal(refused).await, (422, code.to_owned()));
    }
    assert_eq!(states(&setup.server, &session).await, []);
}

#[tokio::test]
async fn ten_follow_ups_may_wait_and_the_eleventh_is_refused() {
    let (setup, session, gate, events) = busy().await;
    for number in 1..=10 {
        push(&setup.server, &session, &format!("m{number}"), "more").await;
    }
    let full = (429, "TOO_MANY_FOLLOW_UPS".to_owned());
    assert_eq!(refusal(try_push(&setup.server, &session, "m11", "more").await).await, full);
    let by_stream = send(&setup.server, &session, "m11", "more").send().await.expect("an answer");
    assert_eq!(refusal(by_stream).await, full);
    let known = push(&setup.server, &session, "m10", "more").await;
    assert_eq!(known["follow_up"]["state"], "pending", "a repeated message is not counted again");
    assert_eq!(known["buffer_length"], 10, "however often it is asked");
    gate.open();
    events.all().await;
    let rows = setup.messages(&session).await;
    let ids: Vec<&str> = rows
        .iter()
        .filter(|row| row["role"] == "user")
        .skip(1)
        .filter_map(|row| row["id"].as_str())
        .collect();
    assert_eq!(ids, ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"]);
}

#[tokio::test]
async fn other_users_cannot_send_or_read_follow_ups() {
    let settings = [("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", KEY), ("JWT_ISSUER", "test")];
    let setup = ScriptedServer::with(Dialect::OpenAi, &settings).await;
    let (client, api) = (&setup.server.client, |path: &str| setup.server.api(path));
    let made = client.post(api("/chat/sessions")).bearer_auth(token("anna")).send().await;
    let session = id_of(made.expect("an answer")).await;
    setup.model.enqueue(Script::default().say_in("Well", 1).hang());
    let path = format!("/chat/sessions/{session}/stream");
    let started = setup.server.post(&path, &json!({"message": "work"})).bearer_auth(token("anna"));
    let mut events = EventStream::of(started.send().await.expect("an answer"));
    events.until("text-delta").await;
    let path = format!("/chat/sessions/{session}/messages/pending");
    let sent = setup.server.post(&path, &json!({"message": "psst"})).bearer_auth(token("bert"));
    assert_eq!(sent.send().await.expect("an answer").status(), 404);
    let read = setup.server.get(&path).bearer_auth(token("bert"));
    assert_eq!(read.send().await.expect("an answer").status(), 404);
    let mine = setup.server.get(&path).bearer_auth(token("anna")).send().await.expect("an answer");
    assert_eq!(json_of(mine).await["follow_ups"], json!([]));
}
