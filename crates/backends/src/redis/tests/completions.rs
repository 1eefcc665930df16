//! Completions through the stream, also when a process or Redis goes away.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use ports::{Completions, PortError};
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::process::{BOUND, until};
use super::server::PrivateRedis;
use crate::redis::keys::{COMPLETIONS as STREAM, CONSUMERS as GROUP};
use crate::redis::{RECLAIM, RedisBackend, RedisOptions};

/// Short enough for messages that are reclaimed, and long for everything else.
const SOON: Duration = Duration::from_millis(500);

async fn process(server: &PrivateRedis, reclaim: Duration) -> RedisBackend {
    let stream_ttl = Duration::from_secs(60);
    let options = RedisOptions { url: server.url(), stream_ttl, reclaim, deaf: false };
    RedisBackend::connect(&options, broadcast::Sender::new(16)).await.expect("it connects")
}

async fn next(redis: &RedisBackend) -> ports::completions::CompletionMessage {
    timeout(BOUND, redis.completions().next()).await.expect("in time").expect("a message")
}

async fn send(redis: &RedisBackend, body: &str) {
    redis.completions().send(body.to_owned()).await.expect("send");
}

/// Messages in the stream, and unacknowledged ones.
async fn left(redis: &mut MultiplexedConnection) -> (usize, usize) {
    let length: usize = redis.xlen(STREAM).await.expect("a length");
    let pending = redis::cmd("XPENDING").arg(STREAM).arg(GROUP).query_async(redis).await;
    let (pending, ..): (usize, redis::Value, redis::Value, redis::Value) =
        pending.expect("a summary");
    (length, pending)
}

async fn consumers(redis: &mut MultiplexedConnection) -> Vec<String> {
    let listed =
        redis::cmd("XINFO").arg("CONSUMERS").arg(STREAM).arg(GROUP).query_async(redis).await;
    let listed: Vec<HashMap<String, redis::Value>> = listed.expect("a list");
    let name = |consumer: &HashMap<String, redis::Value>| {
        redis::from_redis_value(consumer["name"].clone()).expect("a name")
    };
    listed.iter().map(name).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_programs_may_write_the_body_or_its_fields() {
    let server = PrivateRedis::start().await;
    let mut redis = server.connection().await;
    // Written before any consumer reads.
    let body = r#"{"operation_id":"o"}"#;
    let _: String = redis.xadd(STREAM, "*", &[("data", body)]).await.expect("added");
    let process = process(&server, RECLAIM).await;
    let arrived = next(&process).await;
    assert_eq!(arrived.body, body);
    arrived.ack().await.expect("ack");
    let fields = [("operation_id", "o"), ("success", "true"), ("result", "{\"n\":1}")];
    let _: String = redis.xadd(STREAM, "*", &fields).await.expect("added");
    let arrived = next(&process).await;
    assert_eq!(arrived.body, r#"{"operation_id":"o","success":true,"result":{"n":1}}"#);
    arrived.ack().await.expect("ack");
    assert_eq!(left(&mut redis).await, (0, 0), "acknowledged messages are deleted");
    process.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_a_dead_process_are_delivered_to_another() {
    let server = PrivateRedis::start().await;
    let (dead, alive) = (process(&server, SOON).await, process(&server, SOON).await);
    let (count, mut taken) = (15, Vec::new());
    for n in 0..count {
        send(&dead, &format!("message {n}")).await;
        taken.push(next(&dead).await);
    }
    drop(taken);
    let since = Instant::now();
    let mut found = HashSet::new();
    for _ in 0..count {
        let arrived = next(&alive).await;
        found.insert(arrived.body.clone());
        arrived.ack().await.expect("ack");
    }
    assert_eq!(found.len(), count, "each of them, once");
    assert!(since.elapsed() > SOON / 2, "not before the reclaim time");
    assert_eq!(left(&mut server.connection().await).await, (0, 0));
    dead.close().await;
    alive.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closing_process_returns_its_messages_and_is_removed() {
    let server = PrivateRedis::start().await;
    let (leaving, idle) = (process(&server, RECLAIM).await, process(&server, RECLAIM).await);
    send(&leaving, "hello").await;
    drop(next(&leaving).await);
    // It waits, and stops waiting.
    assert!(timeout(SOON, idle.completions().next()).await.is_err());
    leaving.close().await;
    idle.close().await;
    let closed = leaving.completions().next().await;
    assert!(matches!(closed, Err(PortError::Closed)), "{:?}", closed.err());

    let staying = process(&server, RECLAIM).await;
    let arrived = next(&staying).await;
    assert_eq!(arrived.body, "hello", "long before the reclaim time");
    arrived.ack().await.expect("ack");
    let names = consumers(&mut server.connection().await).await;
    assert_eq!(names.len(), 2, "the idle one is gone: {names:?}");
    assert!(names.iter().all(|name| name.starts_with("consumer-") && name.len() == 17));
    staying.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_for_a_caller_that_stopped_waiting_goes_to_the_next() {
    let server = PrivateRedis::start().await;
    let process = process(&server, RECLAIM).await;
    for n in 0..5 {
        assert!(timeout(SOON / 10, process.completions().next()).await.is_err());
        send(&process, &format!("message {n}")).await;
        let arrived = next(&process).await;
        assert_eq!(arrived.body, format!("message {n}"));
        arrived.ack().await.expect("ack");
    }
    process.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_are_delivered_again_after_a_flush() {
    let server = PrivateRedis::start().await;
    let process = process(&server, RECLAIM).await;
    send(&process, "before").await;
    next(&process).await.ack().await.expect("ack");
    let flushing = async {
        let _: () = server.connection().await.flushall().await.expect("it forgets");
        send(&process, "after").await;
    };
    let (arrived, ()) = tokio::join!(next(&process), flushing);
    assert_eq!(arrived.body, "after");
    process.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_redis_is_tolerated_for_a_limited_time() {
    let mut server = PrivateRedis::start().await;
    let process = process(&server, RECLAIM).await;
    server.kill();
    let away = timeout(BOUND, process.completions().next()).await.expect("not for ever");
    assert!(matches!(away, Err(PortError::Unavailable(_))), "{:?}", away.err());
    until("the outage is noticed", async || {
        process.completions().send(String::new()).await.is_err()
    })
    .await;
    let back = async {
        server.start_again().await;
        until("the server is reachable again", async || process.failing().await.is_none()).await;
        send(&process, "hello").await;
    };
    let (arrived, ()) = tokio::join!(next(&process), back);
    assert_eq!(arrived.body, "hello");
    process.close().await;
}
