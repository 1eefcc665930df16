//! A turn whose stream has expired in Redis is replayed unchanged from the database.

use testkit::services::{RedisServer, TestServerUrls};

use super::concurrent_turns::ConcurrentTurns;
use super::outage_cluster::{OutageCluster, shared};
use super::turn_guarantees::after;
use crate::server::{Role, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_stream_is_replayed_by_a_process_that_never_saw_the_turn() {
    let redis = RedisServer::start().expect("a Redis server for this test");
    let urls = TestServerUrls { redis: redis.url(), ..shared() };
    let mut setup = OutageCluster::on(&urls, &[("CHAT_STREAM_TTL", "1")]).await;
    let turns = ConcurrentTurns::ask(&setup, 6, 10).await;
    let seen = turns.finish(&setup).await;
    let client = ::redis::Client::open(urls.redis.as_str()).expect("a URL");
    let asking = client.get_multiplexed_async_connection().await.expect("a connection");
    for one in &seen {
        let key = format!("chat:stream:{}", one.turn);
        eventually("the end of the stream in Redis", async || {
            let mut exists = ::redis::cmd("EXISTS");
            let there: bool =
                exists.arg(&key).query_async(&mut asking.clone()).await.expect("an answer");
            (!there).then_some(())
        })
        .await;
    }
    setup.cluster.spawn(Role::Api, &[]);
    for one in &seen {
        assert_eq!(after(setup.api(2), &one.turn, 1).await, one.events[1..]);
    }
}
