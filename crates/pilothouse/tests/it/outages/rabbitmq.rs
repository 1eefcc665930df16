//! RabbitMQ only announces which turn is next. Without it the executors find turns in the store.

use std::time::{Duration, Instant};

use testkit::model_server::{Gate, Script};
use testkit::proxy::ProxyMode;
use testkit::services::{RabbitMqServer, TestServerUrls};

use super::concurrent_turns::{ConcurrentTurns, question};
use super::invalid_messages::Broker;
use super::outage_cluster::{AffectedProcesses, OutageCluster, answer_to, shared};
use super::turn_guarantees::takeovers;
use super::{DELAYED_AT_MOST, measured, readiness};
use crate::server::eventually;

/// Two seconds until a push times out, one sweep, and the rest for a loaded machine.
const FOUND_WITHIN: Duration = Duration::from_secs(5);

/// Messages sent while the broker is away are accepted at once, and the executors find them in the store.
async fn ask_meanwhile(setup: &OutageCluster, round: usize) {
    let began = Instant::now();
    let mut turns = ConcurrentTurns::empty();
    for number in [0, 1, 2, 3] {
        let session = setup.api(number % 2).session().await;
        turns.add(setup, number % 2, question(&session, round * 100 + number, 3));
    }
    turns.all_begin().await;
    let begun = began.elapsed();
    measured("turns begin without the broker after", begun);
    assert!(begun < FOUND_WITHIN, "{begun:?}");
    for seen in turns.finish(setup).await {
        assert_eq!((seen.refusals, seen.breaks, takeovers(&seen)), (0, 0, 0));
        assert!(seen.accepted_after < Duration::from_secs(1), "{:?}", seen.accepted_after);
    }
}

async fn assert_nothing_happened(turns: ConcurrentTurns, setup: &OutageCluster) {
    for seen in turns.finish(setup).await {
        assert_eq!((takeovers(&seen), seen.breaks, seen.refusals, seen.notices), (0, 0, 0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_run_when_the_broker_closes_its_connections_and_stops() {
    let mut broker = RabbitMqServer::start().expect("a broker for this test");
    let setup =
        OutageCluster::on(&TestServerUrls { rabbitmq: broker.url(), ..shared() }, &[]).await;
    let mut turns = ConcurrentTurns::ask(&setup, 10, 60).await;
    turns.all_begin().await;
    broker.close_connections();
    ask_meanwhile(&setup, 1).await;
    readiness::wait_until_ready(&setup).await;
    broker.stop();
    readiness::wait_for_failing(&setup, AffectedProcesses::All, "rabbitmq").await;
    turns.all_continue(DELAYED_AT_MOST).await;
    ask_meanwhile(&setup, 2).await;
    broker.restart();
    readiness::wait_until_ready(&setup).await;
    ask_meanwhile(&setup, 3).await;
    assert_nothing_happened(turns, &setup).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_run_while_the_broker_is_unreachable() {
    let setup = OutageCluster::start(&[]).await;
    let mut turns = ConcurrentTurns::ask(&setup, 10, 60).await;
    turns.all_begin().await;
    setup.set(AffectedProcesses::All, |proxies| &proxies.rabbitmq, ProxyMode::BlackHole);
    ask_meanwhile(&setup, 1).await;
    readiness::wait_for_failing(&setup, AffectedProcesses::All, "rabbitmq").await;
    turns.all_continue(DELAYED_AT_MOST).await;
    ask_meanwhile(&setup, 2).await;
    setup.set(AffectedProcesses::All, |proxies| &proxies.rabbitmq, ProxyMode::Pass);
    readiness::wait_until_ready(&setup).await;
    ask_meanwhile(&setup, 3).await;
    assert_nothing_happened(turns, &setup).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_that_were_purged_from_the_queue_are_found_again() {
    let setup = OutageCluster::start(&[("NUM_COPILOT_WORKERS", "1")]).await;
    let gate = Gate::closed();
    let before = gate.clone();
    setup
        .model
        .respond_with(move |request| Script::default().wait_for(&before).say(&answer_to(request)));
    let turns = ConcurrentTurns::ask(&setup, 12, 3).await;
    // Each executor holds one turn at the gate. The others wait in the queue twice: the API added them at once and the
    // sweeper a second later. After that the sweeper leaves them alone for a while, unless the machine is very slow.
    setup.model.wait_for_requests(2).await;
    let broker = Broker::of(&setup).await;
    eventually("the others in the queue", async || {
        (broker.waiting_in("copilot_execution_queue_v2").await >= 20).then_some(())
    })
    .await;
    let purged = broker.purge().await;
    assert!(purged >= 20, "only {purged}");
    gate.open();
    let began = Instant::now();
    let all = turns.finish(&setup).await;
    measured("purged turns were answered after", began.elapsed());
    for seen in all {
        assert_eq!(takeovers(&seen), 0);
    }
}
