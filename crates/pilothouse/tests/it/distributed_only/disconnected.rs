//! An executor that cannot reach Postgres, Redis or RabbitMQ stops its turns before the lease ends, and takes work
//! again once it is reconnected.

use std::time::Duration;

use testkit::model_server::{ResponseEnd, Script};
use testkit::proxy::ProxyMode;

use super::followed_turn::FollowedTurn;
use super::rows::rows_of;
use super::{empty_cluster, finished};
use crate::contract::assert_complete;
use crate::events::{EventStream, text_of};
use crate::server::{Role, ServerProxies};

/// A lease, plus the time that a claim started by the disconnected executor may take.
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(10);
/// How soon a reconnected process takes work.
const RECONNECTED_WITHIN: Duration = Duration::from_secs(12);

#[tokio::test(flavor = "multi_thread")]
async fn a_disconnected_executor_loses_its_turn_and_works_again_once_reconnected() {
    let (model, mut cluster) = empty_cluster(&[]).await;
    cluster.spawn(Role::Api, &[]);
    cluster.spawn_with_proxies(Role::Executor, &[]);
    model.enqueue(Script::default().say("I begin").hang());
    model.enqueue(Script::text("Once more, and to the end."));
    let mut turn = FollowedTurn::start(cluster.api(0).http(), "hello").await;
    turn.until("text-delta").await;
    let all = |proxies: &ServerProxies, mode: ProxyMode| {
        for link in [&proxies.postgres, &proxies.redis, &proxies.rabbitmq] {
            link.set(mode);
        }
    };
    all(cluster.executor(0).proxies(), ProxyMode::BlackHole);
    cluster.spawn(Role::Executor, &[]);
    turn.read_to_the_end().await;
    turn.assert_holds(cluster.api(0).http(), &finished()).await;

    let proxies = cluster.executor(0).proxies();
    all(proxies, ProxyMode::Pass);
    for link in [&proxies.postgres, &proxies.redis, &proxies.rabbitmq] {
        link.reset_all();
    }
    cluster.executor_mut(1).kill9();
    model.enqueue(Script::text("I am back."));
    let next = cluster.api(0).http().say(&turn.session, "are you there?").await;
    assert_answers(next, "I am back.").await;
}

/// Redis and RabbitMQ still work for this executor, so it is notified of new turns and cannot claim them. What it sent
/// to Postgres arrives late, when the connection is restored.
#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_cannot_reach_postgres_stops_before_its_lease_ends() {
    let (model, mut cluster) = empty_cluster(&[]).await;
    cluster.spawn(Role::Api, &[]);
    cluster.spawn_with_proxies(Role::Executor, &[]);
    let words = (0..2000).fold(Script::default(), |script, word| {
        script.say_in(&format!("word {word} "), 1).delay(Duration::from_millis(20))
    });
    model.enqueue(words);
    model.enqueue(Script::text("Once more, and to the end."));
    let mut turn = FollowedTurn::start(cluster.api(0).http(), "hello").await;
    turn.until("text-delta").await;
    cluster.spawn(Role::Executor, &[]);
    cluster.executor(0).proxies().postgres.set(ProxyMode::BlackHole);
    let left = |requests: &[testkit::model_server::RecordedRequest]| {
        requests[0].ending == ResponseEnd::ClientLeft
    };
    let then = model.wait_until("the cut off executor to hang up", left).await;
    assert_eq!(then.len(), 1, "it stopped before another executor started the turn");
    let taking_over = tokio::time::timeout(TAKEN_OVER_WITHIN, turn.read_to_the_end());
    taking_over.await.expect("the disconnected executor does not block the takeover");
    turn.assert_holds(cluster.api(0).http(), &finished()).await;
    model.enqueue(Script::text("Without it."));
    let meanwhile = cluster.api(0).http().say(&turn.session, "and now?").await;
    assert_answers(meanwhile, "Without it.").await;

    let before = rows_of(&cluster, &turn.turn).await;
    cluster.executor(0).proxies().postgres.set(ProxyMode::Pass);
    cluster.executor_mut(1).kill9();
    model.enqueue(Script::text("I am back."));
    let next = cluster.api(0).http().say(&turn.session, "are you there?").await;
    assert_answers(next, "I am back.").await;
    assert_eq!(rows_of(&cluster, &turn.turn).await, before, "late writes changed nothing");
    assert_eq!(model.requests().len(), 4);
    model.assert_no_violations();
}

async fn assert_answers(stream: EventStream, text: &str) {
    let events = tokio::time::timeout(RECONNECTED_WITHIN, stream.all()).await.expect("in time");
    assert_eq!((assert_complete(&events), text_of(&events)), (finished(), text.to_owned()));
}
