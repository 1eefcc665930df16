//! Recorded streams of turns that do not finish normally: canceled, failed, interrupted, out of steps.

use testkit::model_server::{Dialect, Gate, Script};

use super::assert_says;
use super::scripted::ScriptedServer;
use crate::contract::TurnEnd;
use crate::events::{EventStream, ReceivedEvent, text_of, turn_of};
use crate::scripts::todo;
use crate::turn_requests::follow_after;

#[tokio::test]
async fn a_cancelled_turn() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("The way out of the harbour").wait_for(&gate));
    let mut events = setup.server.say(&session, "Describe the way out.").await;
    // The model has sent the text when it reaches the gate; the server must have read all of it, too.
    let mut all = Vec::new();
    while text_of(&all) != "The way out of the harbour" {
        all.extend(events.until_seen("text-delta").await);
    }
    gate.reached().await;
    setup.server.cancel(&session).await;
    all.extend(events.rest().await.0);
    assert_says("stopped", &all);
}

#[tokio::test]
async fn a_provider_that_fails_in_its_text() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(
        Script::default().say("The way out of").then_error("invalid_request_error", "no longer"),
    );
    let (events, end) = setup.turn(&session, "Describe the way out.").await;
    assert!(matches!(end, TurnEnd::Failed(_)), "{end:?}");
    assert_says("provider-failure", &events);
}

#[tokio::test]
async fn a_provider_that_refuses_the_key() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::unauthorized());
    let (events, _) = setup.turn(&session, "Hello.").await;
    assert_says("provider-refusal", &events);
}

#[tokio::test]
async fn a_turn_that_has_used_up_its_steps() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("CHAT_MAX_STEPS", "2")]).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().call(&[todo("call_a", "Cast off")]));
    setup.model.enqueue(Script::default().call(&[todo("call_b", "Set sail")]));
    let (events, _) = setup.turn(&session, "Go.").await;
    assert_says("max-steps", &events);
}

#[tokio::test]
async fn a_turn_taken_over_by_another_worker() {
    let mut setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("First a list.").call(&[todo("call_a", "Sail")]));
    setup.model.enqueue(Script::default().say("The wind is from").wait_for(&gate));
    let events = setup.server.say(&session, "How is the wind?").await;
    let turn = turn_of(&events);
    let seen = said(events, "The wind is from").await;
    gate.reached().await;
    setup.server.kill9();
    setup.model.enqueue(Script::text("The wind is from the west, and it is turning."));
    setup.server.restart();
    let mut all = seen;
    let last = all.last().expect("events").id;
    all.extend(follow_after(&setup.server, &turn, last).await.all().await);
    assert_says("takeover", &all);
}

/// Everything up to the text at which a turn is interrupted.
async fn said(mut events: EventStream, words: &str) -> Vec<ReceivedEvent> {
    let mut seen = Vec::new();
    while !text_of(&seen).ends_with(words) {
        seen.push(events.next().await.expect("the stream continues"));
    }
    seen
}
