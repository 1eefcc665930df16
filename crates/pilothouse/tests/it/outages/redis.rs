//! Redis only carries notifications. Without it turns run, messages are accepted, and streams continue with a second of
//! delay.

use testkit::proxy::Mode;
use testkit::services::{Redis, Urls};

use super::crowd::{Crowd, question};
use super::stage::{Stage, Whom, shared};
use super::verdict::takeovers;
use super::{NEWS_WITHIN, measured, readiness};

const CROWD: usize = 12;

async fn with_own_redis() -> (Stage, Redis) {
    let redis = Redis::start().expect("a Redis of our own");
    let stage = Stage::on(&Urls { redis: redis.url(), ..shared() }, &[]).await;
    (stage, redis)
}

/// Messages sent while Redis is away.
async fn ask_more(stage: &Stage, crowd: &mut Crowd) {
    for number in [0, 1] {
        let session = stage.api(number).session().await;
        crowd.add(stage, number, question(&session, 900 + number, 5));
    }
}

async fn assert_nothing_happened(crowd: Crowd, stage: &Stage) {
    for seen in crowd.finish(stage).await {
        assert_eq!((takeovers(&seen), seen.breaks, seen.refusals, seen.notices), (0, 0, 0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_redis_data_loss_does_not_affect_turns() {
    let (stage, redis) = with_own_redis().await;
    let mut crowd = Crowd::ask(&stage, CROWD, 40).await;
    crowd.all_begin().await;
    for _ in 0..5 {
        redis.flush_all();
        measured("all go on after", crowd.all_go_on(NEWS_WITHIN).await);
    }
    assert_nothing_happened(crowd, &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_restart_without_data_delays_streams_by_a_second() {
    let (stage, mut redis) = with_own_redis().await;
    let mut crowd = Crowd::ask(&stage, CROWD, 80).await;
    crowd.all_begin().await;
    redis.stop();
    for _ in 0..2 {
        measured("all go on after", crowd.all_go_on(NEWS_WITHIN).await);
    }
    readiness::name(&stage, Whom::Everybody, "redis").await;
    ask_more(&stage, &mut crowd).await;
    measured("all go on after", crowd.all_go_on(NEWS_WITHIN).await);
    redis.restart();
    readiness::well(&stage).await;
    measured("all go on after", crowd.all_go_on(NEWS_WITHIN).await);
    assert_nothing_happened(crowd, &stage).await;
}

async fn a_black_hole(whom: Whom) {
    let stage = Stage::start(&[]).await;
    let mut crowd = Crowd::ask(&stage, CROWD, 80).await;
    crowd.all_begin().await;
    stage.set(whom, |links| &links.redis, Mode::BlackHole);
    for _ in 0..2 {
        measured("all go on after", crowd.all_go_on(NEWS_WITHIN).await);
    }
    readiness::name(&stage, whom, "redis").await;
    ask_more(&stage, &mut crowd).await;
    measured("all go on after", crowd.all_go_on(NEWS_WITHIN).await);
    stage.set(whom, |links| &links.redis, Mode::Pass);
    readiness::well(&stage).await;
    measured("all go on after", crowd.all_go_on(NEWS_WITHIN).await);
    assert_nothing_happened(crowd, &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_redis_delays_streams_by_a_second() {
    a_black_hole(Whom::Everybody).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_unreachable_for_apis_delays_streams_by_a_second() {
    a_black_hole(Whom::Apis).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_unreachable_for_executors_delays_streams_by_a_second() {
    a_black_hole(Whom::Executors).await;
}
