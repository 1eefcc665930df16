//! Two API processes serve the same data: a client may use either one for each request.

use std::time::Duration;

use futures::future::{join, join_all, join3};
use testkit::model_server::{Gate, Script};
use tokio::time::{Instant, timeout_at};

use super::followed_turn::FollowedTurn;
use super::{cluster, finished};
use crate::contract::assert_replay;
use crate::events::{Ending, EventStream, ReceivedEvent, text_of, turn_of};
use crate::server::{Api, Cluster};
use crate::turn_requests::{follow_after, send_and_follow};

const DELTAS: usize = 2_000;
const CLIENTS: usize = 10;

#[tokio::test(flavor = "multi_thread")]
async fn every_api_shows_the_same_stream() {
    let (model, cluster) = cluster(2, 1, &[]).await;
    let gate = Gate::closed();
    // The gate is before the first word: a replay would merge words that are in the log already.
    model.enqueue(Script::default().wait_for(&gate).say("I begin").say(" and I end."));
    let session = cluster.api(0).http().session().await;
    let stream = cluster.api(0).http().say(&session, "hello").await;
    let elsewhere = follow_after(cluster.api(1).http(), &turn_of(&stream), 0).await;
    gate.open();
    assert_eq!(elsewhere.all().await, stream.all().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_alternate_between_apis_get_the_same_events() {
    let (model, cluster) = cluster(2, 1, &[]).await;
    let at_once = 20;
    let script = (0..DELTAS / at_once).fold(Script::default(), |script, part| {
        let words: String =
            (0..at_once).map(|word| format!("{:06} ", part * at_once + word)).collect();
        script.say_in(&words, at_once).delay(Duration::from_millis(30))
    });
    model.enqueue(script);
    let mut steady = FollowedTurn::start(cluster.api(0).http(), "hello").await;
    steady.until("start").await;
    let turn = steady.turn.clone();
    let late = cluster.api(1).http().get(&format!("/chat/tasks/{turn}/stream"));
    let late = EventStream::of(late.send().await.expect("an answer"));
    let follow_alternating =
        join_all((0..CLIENTS).map(|number| follow_alternating(&cluster, &turn, number)));
    let (others, late, ()) = join3(follow_alternating, late.all(), steady.read_to_the_end()).await;
    assert_eq!((assert_replay(&late), text_of(&late)), (finished(), steady.text()));
    steady.assert_holds(cluster.api(1).http(), &finished()).await;
    let expected: String = (0..DELTAS).map(|word| format!("{word:06} ")).collect();
    assert_eq!(steady.text(), expected);
    let mut changes = 0;
    for (seen, connections) in others {
        assert_eq!(seen, steady.seen[1..], "after {connections} connections");
        changes += connections - 1;
    }
    assert!(changes >= CLIENTS * 3, "they changed often: {changes}");
    assert_eq!(model.requests().len(), 1);
}

/// Follows a turn after its first event, on connections of 50 to 300 ms that alternate between the two API processes.
async fn follow_alternating(
    cluster: &Cluster,
    turn: &str,
    number: usize,
) -> (Vec<ReceivedEvent>, usize) {
    let (mut seen, mut connections) = (Vec::<ReceivedEvent>::new(), 0);
    loop {
        let api: &Api = cluster.api((number + connections) % 2).http();
        let last = seen.last().map_or(1, |got| got.id);
        let mut stream = follow_after(api, turn, last).await;
        connections += 1;
        let leave = Instant::now() + Duration::from_millis(rand::random_range(50..300));
        while let Ok(next) = timeout_at(leave, stream.next()).await {
            match next {
                Ok(got) => seen.push(got),
                Err(ending) => {
                    assert_eq!(ending, Ending::Complete);
                    return (seen, connections);
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_message_sent_to_both_apis_is_one_turn() {
    let (model, cluster) = cluster(2, 1, &[]).await;
    model.respond_with(|_| Script::text("Once."));
    let (one, other) = (cluster.api(0).http(), cluster.api(1).http());
    for round in 0..10 {
        let (session, id) = (one.session().await, format!("message-{round}"));
        let here = send_and_follow(one, &session, &id, "hello");
        let there = send_and_follow(other, &session, &id, "hello");
        let (here, there) = join(here, there).await;
        assert_eq!(turn_of(&here), turn_of(&there));
        let (here, there) = join(here.all(), there.all()).await;
        assert_eq!((assert_replay(&here), assert_replay(&there)), (finished(), finished()));
        assert_eq!((text_of(&here), text_of(&there)), ("Once.".to_owned(), "Once.".to_owned()));
        let rows = one.read_session(&session).await["messages"].as_array().map_or(0, Vec::len);
        assert_eq!(rows, 2, "one message and one answer");
        assert_eq!(model.requests().len(), round + 1);
    }
}
