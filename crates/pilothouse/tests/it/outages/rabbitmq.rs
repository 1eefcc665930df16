//! RabbitMQ only announces which turn is next. Without it the executors find turns in the store.

use std::time::{Duration, Instant};

use testkit::model_server::{Gate, Script};
use testkit::proxy::Mode;
use testkit::services::{RabbitMq, Urls};

use super::crowd::{Crowd, question};
use super::poison::Broker;
use super::stage::{Stage, Whom, answer_to, shared};
use super::verdict::takeovers;
use super::{NEWS_WITHIN, measured, readiness};
use crate::distributed::guarantees::eventually;

/// Two seconds until a push times out, one sweep, and the rest for a loaded machine.
const FOUND_WITHIN: Duration = Duration::from_secs(5);

/// Messages sent while the broker is away are accepted at once, and the executors find them in the store.
async fn ask_meanwhile(stage: &Stage, round: usize) {
    let began = Instant::now();
    let mut crowd = Crowd::empty();
    for number in [0, 1, 2, 3] {
        let session = stage.api(number % 2).session().await;
        crowd.add(stage, number % 2, question(&session, round * 100 + number, 3));
    }
    crowd.all_begin().await;
    let begun = began.elapsed();
    measured("turns begin without the broker after", begun);
    assert!(begun < FOUND_WITHIN, "{begun:?}");
    for seen in crowd.finish(stage).await {
        assert_eq!((seen.refusals, seen.breaks, takeovers(&seen)), (0, 0, 0));
        assert!(seen.accepted_after < Duration::from_secs(1), "{:?}", seen.accepted_after);
    }
}

async fn assert_nothing_happened(crowd: Crowd, stage: &Stage) {
    for seen in crowd.finish(stage).await {
        assert_eq!((takeovers(&seen), seen.breaks, seen.refusals, seen.notices), (0, 0, 0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_run_when_the_broker_closes_its_connections_and_stops() {
    let mut broker = RabbitMq::start().expect("a broker of our own");
    let stage = Stage::on(&Urls { rabbitmq: broker.url(), ..shared() }, &[]).await;
    let mut crowd = Crowd::ask(&stage, 10, 60).await;
    crowd.all_begin().await;
    broker.close_connections();
    ask_meanwhile(&stage, 1).await;
    readiness::well(&stage).await;
    broker.stop();
    readiness::name(&stage, Whom::Everybody, "rabbitmq").await;
    crowd.all_go_on(NEWS_WITHIN).await;
    ask_meanwhile(&stage, 2).await;
    broker.restart();
    readiness::well(&stage).await;
    ask_meanwhile(&stage, 3).await;
    assert_nothing_happened(crowd, &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_run_while_the_broker_is_unreachable() {
    let stage = Stage::start(&[]).await;
    let mut crowd = Crowd::ask(&stage, 10, 60).await;
    crowd.all_begin().await;
    stage.set(Whom::Everybody, |links| &links.rabbitmq, Mode::BlackHole);
    ask_meanwhile(&stage, 1).await;
    readiness::name(&stage, Whom::Everybody, "rabbitmq").await;
    crowd.all_go_on(NEWS_WITHIN).await;
    ask_meanwhile(&stage, 2).await;
    stage.set(Whom::Everybody, |links| &links.rabbitmq, Mode::Pass);
    readiness::well(&stage).await;
    ask_meanwhile(&stage, 3).await;
    assert_nothing_happened(crowd, &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_that_were_purged_from_the_queue_are_found_again() {
    let stage = Stage::start(&[("NUM_COPILOT_WORKERS", "1")]).await;
    let gate = Gate::closed();
    let before = gate.clone();
    stage
        .model
        .respond_with(move |request| Script::default().wait_for(&before).say(&answer_to(request)));
    let crowd = Crowd::ask(&stage, 12, 3).await;
    // Each executor holds one turn at the gate. The others wait in the queue twice: the API added them at once and the
    // sweeper a second later. After that the sweeper leaves them alone for a while.
    stage.model.wait_for_requests(2).await;
    let broker = Broker::of(&stage).await;
    eventually("the others in the queue", async || {
        (broker.waiting_in("copilot_execution_queue_v2").await == 20).then_some(())
    })
    .await;
    assert_eq!(broker.purge().await, 20);
    gate.open();
    let began = Instant::now();
    let all = crowd.finish(&stage).await;
    measured("purged turns were answered after", began.elapsed());
    for seen in all {
        assert_eq!(takeovers(&seen), 0);
    }
}
