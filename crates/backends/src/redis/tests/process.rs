//! The part of a server process that these tests need: a shared store, and its own Redis connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ports::stream_log::{LogRead, LogWatch, SegmentAppended, TakenOver};
use ports::{BusSignal, LogFollower, LogUpdate, PortError, PortResult, StreamLog};
use protocol::{Segment, Seq, TaskId};
use testkit::conformance::scene::segment;
use tokio::sync::broadcast;

use crate::live::LogEnd;
use crate::log_feed::{LogEnds, LogFeed, LogPosition};
use crate::redis::{RECLAIM, RedisBackend, RedisLog, RedisOptions};

/// Time limit of every wait.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

/// A store that notifies a feed of its commits.
pub(crate) struct Telling {
    store: Arc<dyn StreamLog>,
    feed: Arc<dyn LogFeed>,
    pub(crate) reads: AtomicUsize,
    /// Whether all reads fail.
    pub(crate) away: AtomicBool,
}

impl Telling {
    pub(crate) fn new(store: Arc<dyn StreamLog>, feed: Arc<dyn LogFeed>) -> Self {
        Self { store, feed, reads: AtomicUsize::new(0), away: AtomicBool::new(false) }
    }

    fn check_there(&self) -> PortResult<()> {
        match self.away.load(Ordering::Relaxed) {
            true => Err(PortError::Unavailable("away".to_owned())),
            false => Ok(()),
        }
    }

    fn publish(
        &self,
        task: &TaskId,
        fence: u64,
        segment: &Segment,
        end: LogEnd,
        how: SegmentAppended,
    ) {
        if how == SegmentAppended::Stored {
            self.feed.grew(task, fence, segment, end);
        }
    }
}

#[async_trait]
impl StreamLog for Telling {
    async fn take_over(&self, task: &TaskId, fence: u64) -> PortResult<TakenOver> {
        self.store.take_over(task, fence).await
    }

    async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
    ) -> PortResult<SegmentAppended> {
        let appended = self.store.append(task, fence, segment.clone()).await?;
        self.publish(task, fence, &segment, LogEnd::Open, appended);
        Ok(appended)
    }

    async fn seal(&self, task: &TaskId, fence: u64, last: Segment) -> PortResult<SegmentAppended> {
        let appended = self.store.seal(task, fence, last.clone()).await?;
        self.publish(task, fence, &last, LogEnd::Sealed, appended);
        Ok(appended)
    }

    async fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> PortResult<LogRead> {
        self.check_there()?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.read(task, after, max_bytes).await
    }

    fn watch(&self, _task: &TaskId) -> LogWatch {
        LogWatch::deaf()
    }
}

#[async_trait]
impl LogEnds for Telling {
    async fn ends(&self, tasks: &[TaskId]) -> PortResult<Vec<LogPosition>> {
        self.check_there()?;
        let mut ends = Vec::new();
        for task in tasks {
            if let LogRead::Log { last, sealed, .. } = self.store.read(task, 1 << 40, 1).await? {
                let end = LogEnd::of(sealed);
                ends.push(LogPosition { task: task.clone(), last, end });
            }
        }
        Ok(ends)
    }
}

pub(crate) struct Process {
    pub(crate) redis: RedisBackend,
    pub(crate) store: Arc<Telling>,
    pub(crate) log: Arc<RedisLog>,
    pub(crate) signals: broadcast::Sender<BusSignal>,
}

impl Process {
    pub(crate) async fn start(url: &str, store: &Arc<dyn StreamLog>) -> Self {
        let signals = broadcast::Sender::new(1024);
        let stream_ttl = Duration::from_secs(3600);
        let options =
            RedisOptions { url: url.to_owned(), stream_ttl, reclaim: RECLAIM, deaf: false };
        let redis = RedisBackend::connect(&options, signals.clone()).await.expect("it connects");
        let store = Arc::new(Telling::new(store.clone(), redis.feed()));
        let log = Arc::new(redis.log(store.clone(), store.clone()));
        Self { redis, store, log, signals }
    }

    /// Follows a log through hints alone: its own timer is longer than any test.
    pub(crate) fn follow(&self, task: &TaskId, after: Seq) -> LogFollower {
        LogFollower::new(self.log.clone(), task.clone(), after, 2 * BOUND)
    }

    pub(crate) async fn say(&self, task: &TaskId, last: Seq, text: &str) {
        let appended = self.log.append(task, 1, segment(last, &[text])).await.expect("append");
        assert_eq!(appended, SegmentAppended::Stored);
    }

    pub(crate) async fn seal(&self, task: &TaskId, last: Seq, text: &str) {
        let sealed = self.log.seal(task, 1, segment(last, &[text])).await.expect("seal");
        assert_eq!(sealed, SegmentAppended::Stored);
    }
}

/// The next bytes, which must come.
pub(crate) async fn next(follower: &mut LogFollower) -> Vec<u8> {
    match follower.next(BOUND).await.expect("follow") {
        LogUpdate::Segments(segments) => {
            segments.iter().flat_map(|segment| segment.bytes.to_vec()).collect()
        }
        other => panic!("{other:?} instead of something new"),
    }
}

/// Everything up to the end.
pub(crate) async fn rest(mut follower: LogFollower) -> Vec<u8> {
    let mut seen = Vec::new();
    loop {
        match follower.next(BOUND).await.expect("follow") {
            LogUpdate::Segments(segments) => {
                segments.iter().for_each(|segment| seen.extend_from_slice(&segment.bytes));
            }
            LogUpdate::End => return seen,
            other => panic!("{other:?} before the end"),
        }
    }
}

/// Polls until the condition holds.
pub(crate) async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let querying = async {
        while !so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(BOUND, querying).await.unwrap_or_else(|_| panic!("{what} never happened"));
}
