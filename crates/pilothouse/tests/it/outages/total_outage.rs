//! All processes are killed, Redis is emptied and the queue purged at the same time. What was accepted is in the
//! database.

use testkit::services::{RedisServer, TestServerUrls};

use super::concurrent_turns::ConcurrentTurns;
use super::invalid_messages::Broker;
use super::outage_cluster::{OutageCluster, shared};
use super::turn_guarantees::takeovers;
use super::{measured, readiness};

#[tokio::test(flavor = "multi_thread")]
async fn every_turn_ends_after_all_processes_redis_and_the_queue_were_lost() {
    let redis = RedisServer::start().expect("a Redis server for this test");
    let urls = TestServerUrls { redis: redis.url(), ..shared() };
    // Some of the turns run and some still wait in the queue.
    let mut setup = OutageCluster::on(&urls, &[("NUM_COPILOT_WORKERS", "5")]).await;
    let mut turns = ConcurrentTurns::ask(&setup, 16, 20).await;
    setup.model.wait_for_requests(10).await;
    turns.all_accepted().await;
    setup.cluster.kill9();
    redis.flush_all();
    measured("turns that were purged", Broker::of(&setup).await.purge().await);
    setup.cluster.restart();
    readiness::wait_until_ready(&setup).await;
    let seen = turns.finish(&setup).await;
    measured("takeovers", seen.iter().map(takeovers).sum::<usize>());
    assert!(seen.iter().all(|seen| seen.breaks > 0), "every client lost its connection");
}
