//! The guarantees of every turn during an outage.

use serde_json::Value;

use super::outage_cluster::{OutageCluster, answer};
use super::turn_client::{ReceivedTurn, SentMessage};
use crate::contract::{TurnEnd, assert_complete};
use crate::distributed_only::rows::ask;
use crate::events::{EventStream, ReceivedEvent, kinds, text_of};
use crate::history::{history, rows};
use crate::server::{Api, json_of};

/// Asserts that the turn has ended well and once, its ids are dense, every API process replays exactly the received
/// events, the history has one response, and the model got no more requests than the turn had attempts.
pub(crate) async fn assert_kept(
    setup: &OutageCluster,
    question: &SentMessage,
    seen: &ReceivedTurn,
) {
    let what = &question.text;
    assert_eq!(assert_complete(&seen.events), TurnEnd::Finished("stop".to_owned()), "{what}");
    let whole = answer(what);
    let said = text_of(&seen.events);
    assert!(said.ends_with(&whole), "{what} was answered with {said}");
    let takeovers = takeovers(seen);
    if takeovers == 0 {
        assert_eq!(said, whole, "no text was sent twice");
    }
    let asked = setup.model.requests();
    let asked = asked.iter().filter(|request| request.last_user_text().contains(what)).count();
    // Not the takeovers that the stream announces: an attempt that was killed before its first chunk was stored has asked
    // the model and left nothing to announce.
    let attempts = attempts(setup, &seen.turn).await;
    assert!((1..=attempts).contains(&asked), "{what}: asked {asked} in {attempts} attempts");
    for number in [0, 1] {
        assert_repeated(setup.api(number), question, seen, &whole).await;
    }
}

/// How often the turn was claimed.
async fn attempts(setup: &OutageCluster, turn: &str) -> usize {
    let fence = format!("SELECT fence FROM turn WHERE id = '{turn}'");
    ask(&setup.cluster, &fence).await[0].parse().expect("a number")
}

pub(crate) fn takeovers(seen: &ReceivedTurn) -> usize {
    kinds(&seen.events).iter().filter(|kind| **kind == "data-attempt").count()
}

async fn assert_repeated(api: &Api, question: &SentMessage, seen: &ReceivedTurn, whole: &str) {
    assert_eq!(after(api, &seen.turn, 1).await, seen.events[1..], "the replay is unchanged");
    let task = api.get(&format!("/chat/tasks/{}", seen.turn)).send().await.expect("an answer");
    assert_eq!(json_of(task).await["status"], "completed");
    let history: Vec<Value> = history(api, &question.session).await;
    let mine: Vec<Value> =
        history.into_iter().filter(|row| row["turn_id"] == seen.turn.as_str()).collect();
    let contents = |role| rows(&mine, role).iter().map(|row| row["content"].clone()).collect();
    let (questions, answers): (Vec<Value>, Vec<Value>) = (contents("user"), contents("assistant"));
    assert_eq!((questions, answers), (vec![question.text.as_str().into()], vec![whole.into()]));
}

/// The events after this id.
pub(crate) async fn after(api: &Api, turn: &str, id: u64) -> Vec<ReceivedEvent> {
    let request = api.get(&format!("/chat/tasks/{turn}/stream"));
    let request = request.header("last-event-id", id.to_string());
    EventStream::of(request.send().await.expect("an answer")).all().await
}
