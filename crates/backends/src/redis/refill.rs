//! Filling the stream of a task again from the store, after Redis lost it or missed something. A few at a time, beside
//! the live news, and silently: whoever listens has heard the news already.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use ports::StreamLog;
use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use redis::Pipeline;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::link::Link;
use super::merge::merged;
use super::script::{Entry, Outcome, Publish, Voice};
use super::server::PATIENCE;
use crate::live::LogEnd;

/// Refills at the same time.
const SIDE_BY_SIDE: usize = 4;
/// Tasks that may wait to be filled. One more is simply left to the next news of its task.
const WAITING: usize = 4096;
/// Read from the store and sent at a time.
const PIECE_BYTES: usize = 256 * 1024;

pub(super) struct Refills {
    store: Arc<dyn StreamLog>,
    link: Arc<Link>,
    script: Arc<Publish>,
    places: Semaphore,
    under_way: Mutex<HashMap<TaskId, Since>>,
    tracker: TaskTracker,
    end: CancellationToken,
}

/// Whether another gap was met since the refill last looked at the end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    Nothing,
    Gap,
}

enum Filled {
    To(Seq),
    /// Nothing more can or need be done.
    Over,
}

impl Refills {
    pub(super) fn new(
        store: Arc<dyn StreamLog>,
        link: Arc<Link>,
        script: Arc<Publish>,
        tracker: TaskTracker,
        end: CancellationToken,
    ) -> Self {
        let places = Semaphore::new(SIDE_BY_SIDE);
        Self { store, link, script, places, under_way: Mutex::default(), tracker, end }
    }

    /// The stream of `task` ends at `stands` and the log does not.
    pub(super) fn start(self: &Arc<Self>, task: &TaskId, fence: u64, stands: Seq) {
        let mut under_way = self.under_way();
        if let Some(since) = under_way.get_mut(task) {
            *since = Since::Gap;
            return;
        }
        if under_way.len() >= WAITING || self.end.is_cancelled() {
            return;
        }
        under_way.insert(task.clone(), Since::Nothing);
        drop(under_way);
        metrics::counter!("pilothouse_feed_refills_total").increment(1);
        let (refills, task) = (self.clone(), task.clone());
        self.tracker.spawn(async move {
            let end = refills.end.clone();
            end.run_until_cancelled(refills.fill(&task, fence, stands)).await;
        });
    }

    async fn fill(&self, task: &TaskId, fence: u64, stands: Seq) {
        let Ok(_place) = self.places.acquire().await else { return };
        let mut stands = stands;
        loop {
            match self.fill_piece(task, fence, stands).await {
                Filled::To(last) if last > stands => stands = last,
                Filled::To(_) if self.finish(task) == Since::Gap => {}
                Filled::To(_) => return,
                Filled::Over => {
                    self.under_way().remove(task);
                    return;
                }
            }
        }
    }

    async fn fill_piece(&self, task: &TaskId, fence: u64, stands: Seq) -> Filled {
        let read = match self.store.read(task, stands, PIECE_BYTES).await {
            Ok(LogRead::Log { segments, last, sealed, missing_to: None }) => {
                (segments, last, sealed)
            }
            // The log is gone, or its beginning is. Readers go to the store.
            Ok(_) => return Filled::Over,
            Err(error) => {
                tracing::debug!(task.id = %task, %error, "a stream was not filled again");
                return Filled::Over;
            }
        };
        let (segments, last, sealed) = read;
        let mut pipeline = Pipeline::new();
        for segment in merged(segments) {
            let end = end_of(&segment, last, sealed);
            let entry = Entry { task: task.clone(), fence, segment, end };
            pipeline.add_command(self.script.command(&entry, Voice::Silent));
        }
        if pipeline.is_empty() {
            return Filled::To(stands);
        }
        let Ok(answers) = self.link.ask(&pipeline, PATIENCE).await else { return Filled::Over };
        match answers.last().map(Outcome::of) {
            Some(Outcome::StandsAt(now)) if now > stands => Filled::To(now),
            _ => Filled::Over,
        }
    }

    /// Ends the refill, unless another gap was met: under one lock, so that no gap falls between.
    fn finish(&self, task: &TaskId) -> Since {
        let mut under_way = self.under_way();
        match under_way.get_mut(task) {
            Some(since @ Since::Gap) => std::mem::replace(since, Since::Nothing),
            _ => {
                under_way.remove(task);
                Since::Nothing
            }
        }
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<TaskId, Since>> {
        self.under_way.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn end_of(segment: &Segment, last: Seq, sealed: bool) -> LogEnd {
    if sealed && segment.last == last { LogEnd::Sealed } else { LogEnd::Open }
}
