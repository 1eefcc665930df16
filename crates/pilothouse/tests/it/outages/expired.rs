//! A turn whose stream has expired in Redis is replayed unchanged from the database.

use testkit::services::{Redis, Urls};

use super::crowd::Crowd;
use super::stage::{Stage, shared};
use super::verdict::after;
use crate::distributed::guarantees::eventually;
use crate::server::Role;

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_stream_is_replayed_by_a_process_that_never_saw_the_turn() {
    let redis = Redis::start().expect("a Redis of our own");
    let urls = Urls { redis: redis.url(), ..shared() };
    let mut stage = Stage::on(&urls, &[("CHAT_STREAM_TTL", "1")]).await;
    let crowd = Crowd::ask(&stage, 6, 10).await;
    let seen = crowd.finish(&stage).await;
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
    stage.cluster.spawn(Role::Api, &[]);
    for one in &seen {
        assert_eq!(after(stage.api(2), &one.turn, 1).await, one.events[1..]);
    }
}
