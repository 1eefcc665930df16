//! All processes are killed, Redis is emptied and the queue purged at the same time. What was accepted is in the
//! database.

use testkit::services::{Redis, Urls};

use super::crowd::Crowd;
use super::poison::Broker;
use super::stage::{Stage, shared};
use super::verdict::takeovers;
use super::{measured, readiness};

#[tokio::test(flavor = "multi_thread")]
async fn every_turn_ends_after_all_processes_redis_and_the_queue_were_lost() {
    let redis = Redis::start().expect("a Redis of our own");
    let urls = Urls { redis: redis.url(), ..shared() };
    // Some of the turns run and some still wait in the queue.
    let mut stage = Stage::on(&urls, &[("NUM_COPILOT_WORKERS", "5")]).await;
    let mut crowd = Crowd::ask(&stage, 16, 20).await;
    stage.model.wait_for_requests(10).await;
    crowd.all_accepted().await;
    stage.cluster.kill9();
    redis.flush_all();
    measured("turns that were purged", Broker::of(&stage).await.purge().await);
    stage.cluster.restart();
    readiness::well(&stage).await;
    let seen = crowd.finish(&stage).await;
    measured("takeovers", seen.iter().map(takeovers).sum::<usize>());
    assert!(seen.iter().all(|seen| seen.breaks > 0), "every client lost its connection");
}
