//! Redis loses its data, dies, or is silent. No data is lost, no caller waits for it, and afterwards it is used again.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ports::{LogFollower, LogUpdate, PortError};
use redis::AsyncCommands;
use testkit::conformance::scene::segment;

use super::carried::{stands_at, stored};
use super::process::{Process, next, rest, until};
use super::server::PrivateRedis;
use crate::redis::keys;
use crate::redis::server::REPLY_TIMEOUT;

/// Limit for delivery through the timer, generous for a busy machine.
const TIMER_LIMIT: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_flush_every_chunk_is_seen_once_and_the_stream_is_refilled() {
    let (_folder, _store, store, task) = stored().await;
    let server = PrivateRedis::start().await;
    let url = server.url();
    let (a, b) = (Process::start(&url, &store).await, Process::start(&url, &store).await);
    let texts: Vec<String> = (1..=300).map(|n| format!("{n} {}", "z".repeat(n))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let following = rest(b.follow(&task, 0));
    let writing = async {
        for (last, text) in (0..).zip(&texts[..299]) {
            if last % 100 == 50 {
                let mut redis = server.connection().await;
                let _: () = redis.flushall().await.expect("it forgets");
                // Also flushes the scripts, which FLUSHALL keeps.
                redis::cmd("SCRIPT").arg("FLUSH").exec_async(&mut redis).await.expect("it forgets");
            }
            a.say(&task, last, text).await;
        }
        until("the refill", async || stands_at(&url, &task, 299).await).await;
        a.seal(&task, 299, texts[299]).await;
    };
    let (seen, ()) = tokio::join!(following, writing);
    assert!(seen == segment(0, &texts).bytes);
    until("the seal", async || stands_at(&url, &task, 300).await).await;
    let mut redis = server.connection().await;
    let status: String = redis.hget(keys::meta(&task), "status").await.expect("an answer");
    assert_eq!(status, "sealed");
    assert!(rest(b.follow(&task, 0)).await == seen, "from the refilled stream");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_redis_is_bypassed_and_used_again_after_its_restart() {
    let (_folder, _store, store, task) = stored().await;
    let mut server = PrivateRedis::start().await;
    let url = server.url();
    let (a, b) = (Process::start(&url, &store).await, Process::start(&url, &store).await);
    let mut follower = b.follow(&task, 0);
    a.say(&task, 0, "with it").await;
    next(&mut follower).await;

    server.kill();
    for last in 1..4 {
        let since = Instant::now();
        a.say(&task, last, "without it").await;
        assert_eq!(next(&mut follower).await, segment(last, &["without it"]).bytes);
        assert!(since.elapsed() < TIMER_LIMIT, "{:?}", since.elapsed());
    }
    assert_eq!(b.redis.failing().await.expect("it is dead").name, "redis");

    server.start_again().await;
    until("the connection", async || a.redis.failing().await.is_none()).await;
    let mut last = 4;
    // Each connection is restored separately; once all are, notifications arrive at once.
    until("a notification through Redis", async || {
        let since = Instant::now();
        a.say(&task, last, "with it again").await;
        last += 1;
        next(&mut follower).await;
        since.elapsed() < Duration::from_millis(100)
    })
    .await;
    // That segment may have arrived by the timer while the publisher was still without a connection: what it could not
    // send is found missing with the next segment.
    until("the refill", async || {
        if stands_at(&url, &task, last).await {
            return true;
        }
        a.say(&task, last, "and again").await;
        last += 1;
        false
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_redis_delays_no_append_and_followers_continue_through_the_timer() {
    let (_folder, _store, store, task) = stored().await;
    let server = PrivateRedis::start().await;
    let url = server.url();
    let (a, b) = (Process::start(&url, &store).await, Process::start(&url, &store).await);
    let mut follower = b.follow(&task, 0);
    a.say(&task, 0, "first").await;
    next(&mut follower).await;

    server.freeze();
    for last in 1..4 {
        let since = Instant::now();
        a.say(&task, last, "into the silence").await;
        assert!(since.elapsed() < REPLY_TIMEOUT, "{:?}", since.elapsed());
        next(&mut follower).await;
        assert!(since.elapsed() < TIMER_LIMIT, "{:?}", since.elapsed());
    }
    let since = Instant::now();
    assert!(a.redis.failing().await.is_some());
    assert!(since.elapsed() < TIMER_LIMIT);
    // A new follower gets everything from the store.
    let mut newcomer = a.follow(&task, 0);
    let since = Instant::now();
    next(&mut newcomer).await;
    assert!(since.elapsed() < TIMER_LIMIT, "{:?}", since.elapsed());

    server.thaw();
    until("the connection", async || a.redis.failing().await.is_none()).await;
    let mut last = 4;
    until("the refill", async || {
        if stands_at(&url, &task, last).await {
            return true;
        }
        a.say(&task, last, "heard").await;
        last += 1;
        false
    })
    .await;
    a.seal(&task, last, "end").await;
    assert!(rest(follower).await.ends_with(&segment(last, &["end"]).bytes));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_gets_an_error_while_the_store_is_unreachable_and_continues_afterwards() {
    let (_folder, _store, store, task) = stored().await;
    let server = PrivateRedis::start().await;
    let process = Process::start(&server.url(), &store).await;
    let look_often = Duration::from_millis(20);
    let mut follower = LogFollower::new(process.log.clone(), task.clone(), 0, look_often);
    process.say(&task, 0, "first").await;
    next(&mut follower).await;
    assert_eq!(follower.next(look_often).await.expect("follow"), LogUpdate::Silent);

    process.store.away.store(true, Ordering::Relaxed);
    let failed = follower.next(TIMER_LIMIT).await;
    assert!(matches!(failed, Err(PortError::Unavailable(_))), "{failed:?}");
    process.store.away.store(false, Ordering::Relaxed);
    until("the store is reachable again", async || follower.next(look_often).await.is_ok()).await;
    process.seal(&task, 1, "the end").await;
    assert_eq!(rest(follower).await, segment(1, &["the end"]).bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_sends_the_last_segments_and_ends_every_task() {
    let (_folder, _store, store, task) = stored().await;
    let server = PrivateRedis::start().await;
    let url = server.url();
    let a = Process::start(&url, &store).await;
    a.seal(&task, 0, "the end").await;
    tokio::time::timeout(TIMER_LIMIT, a.redis.close()).await.expect("it ends");
    assert!(stands_at(&url, &task, 1).await);
    let mut redis = server.connection().await;
    until("the end of its connections", async || {
        let clients = redis::cmd("CLIENT").arg("LIST").query_async(&mut redis).await;
        let clients: String = clients.expect("a list");
        clients.lines().count() == 1
    })
    .await;
}
