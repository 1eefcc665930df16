//! Purpose of Redis: other processes see a log grow at once, and read it without loading the store.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::future::join_all;
use ports::{BusSignal, LogUpdate, StreamLog};
use protocol::{ExecutionId, Job, Seq, TaskId, TurnId};
use redis::AsyncCommands;
use testkit::conformance::scene::{claim, first_turn, segment};
use tokio::sync::broadcast;

use super::process::{BOUND, Process, next, rest, until};
use super::server::{connection, shared};
use crate::connect::ConnectError;
use crate::live::LogEnd;
use crate::redis::script::{PublishEntry, PublishMode, PublishOutcome, PublishScript};
use crate::redis::{RECLAIM, RedisBackend, RedisOptions, keys};
use crate::{ConnectOptions, ConnectedBackend, connect};

/// An embedded store in place of the shared one, and a task that may be written to.
pub(crate) async fn stored() -> (tempfile::TempDir, ConnectedBackend, Arc<dyn StreamLog>, TaskId) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = connect(&ConnectOptions::embedded(folder.path())).await.expect("it opens");
    let log = store.ports.log.clone();
    let task = TaskId::fresh();
    log.take_over(&task, 1).await.expect("take over");
    (folder, store, log, task)
}

/// Whether the stream in Redis has everything up to `last`.
pub(crate) async fn stands_at(url: &str, task: &TaskId, last: Seq) -> bool {
    let mut redis = connection(url).await;
    let last_stored: Option<Seq> = redis.hget(keys::meta(task), "last").await.expect("an answer");
    last_stored == Some(last)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_reach_other_processes_within_milliseconds() {
    let (_folder, _store, store, task) = stored().await;
    let (a, b) = (Process::start(&shared(), &store).await, Process::start(&shared(), &store).await);
    let mut follower = b.follow(&task, 0);
    a.say(&task, 0, "first").await;
    next(&mut follower).await;
    let mut delays = Vec::new();
    for last in 1..200 {
        let since = Instant::now();
        a.say(&task, last, "more").await;
        next(&mut follower).await;
        delays.push(since.elapsed());
    }
    delays.sort();
    assert!(delays[100] < Duration::from_millis(50), "{:?} in the middle", delays[100]);
    let late = delays.iter().filter(|delay| **delay > Duration::from_millis(500)).count();
    assert_eq!(late, 0, "none came through the timer: {:?}", delays.last());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_from_the_start_reads_redis_instead_of_the_store() {
    let (_folder, _store, store, task) = stored().await;
    let (a, b) = (Process::start(&shared(), &store).await, Process::start(&shared(), &store).await);
    let text = "x".repeat(900);
    for last in 0..1000 {
        a.say(&task, last, &text).await;
    }
    a.seal(&task, 1000, "end").await;
    until("the stream", async || stands_at(&shared(), &task, 1001).await).await;
    let seen = rest(b.follow(&task, 0)).await;
    let mut texts = vec![text.as_str(); 1000];
    texts.push("end");
    assert!(seen == segment(0, &texts).bytes);
    // One store read at the end: only the store knows that nothing follows.
    assert!(b.store.reads.load(Ordering::Relaxed) <= 2, "{:?}", b.store.reads);
    let ttl: i64 = connection(&shared()).await.ttl(keys::stream(&task)).await.expect("an answer");
    assert!((3000..=3600).contains(&ttl), "a sealed stream lives for {ttl} s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_followers_at_any_cursor_see_the_same_bytes() {
    let (_folder, _store, store, task) = stored().await;
    let (a, b) = (Process::start(&shared(), &store).await, Process::start(&shared(), &store).await);
    let texts: Vec<String> = (1..=500).map(|n| format!("{n} {}", "y".repeat(n % 70))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let cursors: Vec<usize> = (0..20).map(|n| n * n * 499 / 361).collect();
    let readers = join_all(cursors.iter().map(|after| {
        let process = if after % 2 == 0 { &a } else { &b };
        rest(process.follow(&task, *after as Seq))
    }));
    let writing = async {
        for (last, text) in (0..).zip(&texts[..499]) {
            a.say(&task, last, text).await;
        }
        a.seal(&task, 499, texts[499]).await;
    };
    let (seen, ()) = tokio::join!(readers, writing);
    for (after, seen) in cursors.into_iter().zip(seen) {
        assert!(seen == segment(after as Seq, &texts[after..]).bytes, "after {after}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_segment_of_an_old_writer_is_refused() {
    let task = TaskId::fresh();
    let script = PublishScript::new(Duration::from_secs(60));
    let mut redis = connection(&shared()).await;
    script.load().exec_async(&mut redis).await.expect("the script is taken");
    let mut publish = async |fence: u64, last: Seq, text: &str| {
        let (task, end) = (task.clone(), LogEnd::Open);
        let entry = PublishEntry { task, fence, segment: segment(last, &[text]), end };
        let reply = redis.send_packed_command(&script.command(&entry, PublishMode::Notify)).await;
        PublishOutcome::of(&reply.expect("an answer"))
    };
    assert_eq!(publish(1, 0, "a").await, PublishOutcome::EndsAt(1));
    assert_eq!(publish(2, 1, "b").await, PublishOutcome::EndsAt(2));
    assert_eq!(publish(1, 2, "late").await, PublishOutcome::Fenced);
    assert_eq!(publish(2, 1, "b").await, PublishOutcome::EndsAt(2), "once is enough");
    assert_eq!(publish(3, 5, "too early").await, PublishOutcome::EndsAt(2));
    assert_eq!(publish(2, 2, "c").await, PublishOutcome::Fenced, "a gap raises the fence as well");
    let length: usize = redis.xlen(keys::stream(&task)).await.expect("an answer");
    assert_eq!(length, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_process_receives_the_end_of_a_job_once() {
    heard_everywhere_once(BusSignal::Ended(Job::from(TurnId::fresh()))).await;
    heard_everywhere_once(BusSignal::Ended(Job::from(ExecutionId::fresh()))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_process_receives_the_advance_of_an_execution_once() {
    heard_everywhere_once(BusSignal::Moved(ExecutionId::fresh())).await;
}

async fn heard_everywhere_once(hint: BusSignal) {
    let (_folder, _store, store, _) = stored().await;
    let (a, b) = (Process::start(&shared(), &store).await, Process::start(&shared(), &store).await);
    let (mut here, mut there) = (a.signals.subscribe(), b.signals.subscribe());
    let marker = BusSignal::Ended(Job::from(TurnId::fresh()));
    // Subscribing takes a moment, and a hint may be lost: it is repeated until it is received.
    let mut said = 0;
    until("a hint from another process", async || {
        say(&a, &hint);
        said += 1;
        heard(&mut there, &hint).await
    })
    .await;
    until("an answer", async || {
        say(&b, &marker);
        let mut subscribing = here.resubscribe();
        heard(&mut subscribing, &marker).await
    })
    .await;
    // By now the process's own hints have come back as well, and were not delivered a second time.
    let mut times = 0;
    while let Ok(signal) = here.try_recv() {
        times += usize::from(signal == hint);
    }
    assert_eq!(times, said);
}

fn say(process: &Process, hint: &BusSignal) {
    match hint.clone() {
        BusSignal::Ended(job) => process.redis.hints().ended(job),
        BusSignal::Moved(run) => process.redis.hints().moved(run),
        BusSignal::Cancel(_) => panic!("cancellations do not go through Redis"),
    }
}

/// Whether the hint is received soon. Other tests share the server, so there may be other hints as well.
async fn heard(signals: &mut broadcast::Receiver<BusSignal>, hint: &BusSignal) -> bool {
    let hearing = async { while signals.recv().await.expect("it is open") != *hint {} };
    tokio::time::timeout(Duration::from_millis(100), hearing).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_in_other_processes_learn_that_a_log_was_deleted() {
    let (_folder, connected, store, _) = stored().await;
    let (a, b) = (Process::start(&shared(), &store).await, Process::start(&shared(), &store).await);
    for told in [true, false] {
        let (owner, session, turn) = first_turn(&connected.ports).await;
        let fence = claim(&connected.ports, &turn.id).await.fence;
        let task = turn.id.task();
        a.log.append(&task, fence, segment(0, &["a"])).await.expect("append");
        let mut follower = b.follow(&task, 0);
        next(&mut follower).await;
        until("the stream", async || stands_at(&shared(), &task, 1).await).await;
        connected.ports.sessions.delete(&owner, &session.id).await.expect("it is removed");
        // Without a notification the timer finds out, and a stream that Redis still has does not bring the log back.
        if told {
            a.redis.feed().gone(std::slice::from_ref(&task));
        }
        assert_eq!(follower.next(BOUND).await.expect("follow"), LogUpdate::Gone);
        if told {
            until("the removal", async || {
                let there: bool = connection(&shared())
                    .await
                    .exists(keys::stream(&task))
                    .await
                    .expect("an answer");
                !there
            })
            .await;
        }
    }
}

#[tokio::test]
async fn an_unreachable_redis_at_start_is_an_error_without_secrets() {
    let url = "redis://:hunter2@127.0.0.1:1/0".to_owned();
    let options =
        RedisOptions { url, stream_ttl: Duration::from_secs(60), reclaim: RECLAIM, deaf: false };
    let signals = broadcast::Sender::new(1);
    let Err(error) = RedisBackend::connect(&options, signals).await else {
        panic!("there is no server")
    };
    assert!(matches!(error, ConnectError::Redis { .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("127.0.0.1:1") && !said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn a_server_without_tls_is_refused_when_tls_is_configured() {
    let url = shared().replace("redis://", "rediss://");
    let options =
        RedisOptions { url, stream_ttl: Duration::from_secs(60), reclaim: RECLAIM, deaf: false };
    let connecting = RedisBackend::connect(&options, broadcast::Sender::new(1)).await;
    assert!(matches!(connecting, Err(ConnectError::Redis { .. })));
}
