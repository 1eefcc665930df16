//! Redis only carries notifications. Without it turns run, messages are accepted, and streams continue with a second of
//! delay.

use testkit::proxy::ProxyMode;
use testkit::services::{RedisServer, TestServerUrls};

use super::concurrent_turns::{ConcurrentTurns, question};
use super::outage_cluster::{AffectedProcesses, OutageCluster, shared};
use super::turn_guarantees::takeovers;
use super::{DELAYED_AT_MOST, measured, readiness};

const TURNS: usize = 12;

async fn with_own_redis() -> (OutageCluster, RedisServer) {
    let redis = RedisServer::start().expect("a Redis server for this test");
    let setup = OutageCluster::on(&TestServerUrls { redis: redis.url(), ..shared() }, &[]).await;
    (setup, redis)
}

/// Messages sent while Redis is away.
async fn ask_more(setup: &OutageCluster, turns: &mut ConcurrentTurns) {
    for number in [0, 1] {
        let session = setup.api(number).session().await;
        turns.add(setup, number, question(&session, 900 + number, 5));
    }
}

async fn assert_nothing_happened(turns: ConcurrentTurns, setup: &OutageCluster) {
    for seen in turns.finish(setup).await {
        assert_eq!((takeovers(&seen), seen.breaks, seen.refusals, seen.notices), (0, 0, 0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_redis_data_loss_does_not_affect_turns() {
    let (setup, redis) = with_own_redis().await;
    let mut turns = ConcurrentTurns::ask(&setup, TURNS, 40).await;
    turns.all_begin().await;
    for _ in 0..5 {
        redis.flush_all();
        measured("all continue after", turns.all_continue(DELAYED_AT_MOST).await);
    }
    assert_nothing_happened(turns, &setup).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_restart_without_data_delays_streams_by_a_second() {
    let (setup, mut redis) = with_own_redis().await;
    let mut turns = ConcurrentTurns::ask(&setup, TURNS, 80).await;
    turns.all_begin().await;
    redis.stop();
    for _ in 0..2 {
        measured("all continue after", turns.all_continue(DELAYED_AT_MOST).await);
    }
    readiness::wait_for_failing(&setup, AffectedProcesses::All, "redis").await;
    ask_more(&setup, &mut turns).await;
    measured("all continue after", turns.all_continue(DELAYED_AT_MOST).await);
    redis.restart();
    readiness::wait_until_ready(&setup).await;
    measured("all continue after", turns.all_continue(DELAYED_AT_MOST).await);
    assert_nothing_happened(turns, &setup).await;
}

async fn assert_survives_black_hole(affected: AffectedProcesses) {
    let setup = OutageCluster::start(&[]).await;
    let mut turns = ConcurrentTurns::ask(&setup, TURNS, 80).await;
    turns.all_begin().await;
    setup.set(affected, |proxies| &proxies.redis, ProxyMode::BlackHole);
    for _ in 0..2 {
        measured("all continue after", turns.all_continue(DELAYED_AT_MOST).await);
    }
    readiness::wait_for_failing(&setup, affected, "redis").await;
    ask_more(&setup, &mut turns).await;
    measured("all continue after", turns.all_continue(DELAYED_AT_MOST).await);
    setup.set(affected, |proxies| &proxies.redis, ProxyMode::Pass);
    readiness::wait_until_ready(&setup).await;
    measured("all continue after", turns.all_continue(DELAYED_AT_MOST).await);
    assert_nothing_happened(turns, &setup).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_redis_delays_streams_by_a_second() {
    assert_survives_black_hole(AffectedProcesses::All).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_unreachable_for_apis_delays_streams_by_a_second() {
    assert_survives_black_hole(AffectedProcesses::Apis).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_unreachable_for_executors_delays_streams_by_a_second() {
    assert_survives_black_hole(AffectedProcesses::Executors).await;
}
