//! Refills the Redis stream of a task from the store, after Redis lost it or missed a segment. Runs a few refills at a
//! time besides live publishing, and without notifications: subscribers have received the segments already.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use ports::StreamLog;
use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use redis::Pipeline;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::RedisConnection;
use super::merge::merged;
use super::script::{PublishEntry, PublishMode, PublishOutcome, PublishScript};
use super::server::REPLY_TIMEOUT;
use crate::live::LogEnd;

/// Concurrent refills.
const CONCURRENT: usize = 4;
/// Tasks that may wait for a refill. Further ones are left to the next segment of their task.
const WAITING: usize = 4096;
/// Bytes read from the store and sent at a time.
const BATCH_BYTES: usize = 256 * 1024;

pub(crate) struct StreamRefills {
    store: Arc<dyn StreamLog>,
    link: Arc<RedisConnection>,
    script: Arc<PublishScript>,
    permits: Semaphore,
    in_progress: Mutex<HashMap<TaskId, GapState>>,
    tracker: TaskTracker,
    end: CancellationToken,
}

/// Whether another gap was found since the refill last read the end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GapState {
    None,
    Gap,
}

enum RefillStep {
    To(Seq),
    /// Nothing more can or need be done.
    Over,
}

impl StreamRefills {
    pub(crate) fn new(
        store: Arc<dyn StreamLog>,
        link: Arc<RedisConnection>,
        script: Arc<PublishScript>,
        tracker: TaskTracker,
        end: CancellationToken,
    ) -> Self {
        let permits = Semaphore::new(CONCURRENT);
        Self { store, link, script, permits, in_progress: Mutex::default(), tracker, end }
    }

    /// Starts a refill: the stream of `task` ends at `position` and the log does not.
    pub(crate) fn start(self: &Arc<Self>, task: &TaskId, fence: u64, position: Seq) {
        let mut in_progress = self.in_progress();
        if let Some(since) = in_progress.get_mut(task) {
            *since = GapState::Gap;
            return;
        }
        if in_progress.len() >= WAITING || self.end.is_cancelled() {
            return;
        }
        in_progress.insert(task.clone(), GapState::None);
        drop(in_progress);
        metrics::counter!("pilothouse_feed_refills_total").increment(1);
        let (refills, task) = (self.clone(), task.clone());
        self.tracker.spawn(async move {
            let end = refills.end.clone();
            end.run_until_cancelled(refills.fill(&task, fence, position)).await;
        });
    }

    async fn fill(&self, task: &TaskId, fence: u64, position: Seq) {
        let Ok(_permit) = self.permits.acquire().await else { return };
        let mut position = position;
        loop {
            match self.fill_batch(task, fence, position).await {
                RefillStep::To(last) if last > position => position = last,
                RefillStep::To(_) if self.finish(task) == GapState::Gap => {}
                RefillStep::To(_) => return,
                RefillStep::Over => {
                    self.in_progress().remove(task);
                    return;
                }
            }
        }
    }

    async fn fill_batch(&self, task: &TaskId, fence: u64, position: Seq) -> RefillStep {
        let read = match self.store.read(task, position, BATCH_BYTES).await {
            Ok(LogRead::Log { segments, last, sealed, missing_to: None }) => {
                (segments, last, sealed)
            }
            // The log was deleted or trimmed. Readers use the store.
            Ok(_) => return RefillStep::Over,
            Err(error) => {
                tracing::debug!(task.id = %task, %error, "could not refill a stream");
                return RefillStep::Over;
            }
        };
        let (segments, last, sealed) = read;
        let mut pipeline = Pipeline::new();
        for segment in merged(segments) {
            let end = end_of(&segment, last, sealed);
            let entry = PublishEntry { task: task.clone(), fence, segment, end };
            pipeline.add_command(self.script.command(&entry, PublishMode::Silent));
        }
        if pipeline.is_empty() {
            return RefillStep::To(position);
        }
        let Ok(answers) = self.link.request(&pipeline, REPLY_TIMEOUT).await else {
            return RefillStep::Over;
        };
        match answers.last().map(PublishOutcome::of) {
            Some(PublishOutcome::EndsAt(now)) if now > position => RefillStep::To(now),
            _ => RefillStep::Over,
        }
    }

    /// Ends the refill, unless another gap was found: under one lock, so that no gap is missed.
    fn finish(&self, task: &TaskId) -> GapState {
        let mut in_progress = self.in_progress();
        match in_progress.get_mut(task) {
            Some(since @ GapState::Gap) => std::mem::replace(since, GapState::None),
            _ => {
                in_progress.remove(task);
                GapState::None
            }
        }
    }

    fn in_progress(&self) -> MutexGuard<'_, HashMap<TaskId, GapState>> {
        self.in_progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn end_of(segment: &Segment, last: Seq, sealed: bool) -> LogEnd {
    LogEnd::of(sealed && segment.last == last)
}
