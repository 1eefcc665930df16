//! The ordered chunks of one task, replayable and live.

use std::time::Duration;

use async_trait::async_trait;
use protocol::{Segment, Seq, TaskId};
use tokio::sync::watch;

use crate::error::PortResult;

/// Laws: positions are dense (`a_gap_is_refused`); reading after `n` returns everything stored after `n`, in order, in
/// parts (`a_read_is_complete_from_any_cursor`); a writer with an older fence changes nothing
/// (`an_old_fence_cannot_append`); a seal is final (`nothing_follows_a_seal`); a removed beginning is reported, never
/// skipped (`a_read_reports_a_trimmed_start`); appended segments survive a restart
/// (`an_appended_segment_survives_a_restart`).
#[async_trait]
pub trait StreamLog: Send + Sync {
    /// Makes `fence` the writer of this log, creating it if needed, and returns its end. Afterward no older fence can append.
    async fn take_over(&self, task: &TaskId, fence: u64) -> PortResult<TakenOver>;

    /// The segment is stored when this returns `Stored`; only then may readers see it.
    async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
    ) -> PortResult<SegmentAppended>;

    /// Appends the last segment and closes the log permanently.
    async fn seal(&self, task: &TaskId, fence: u64, last: Segment) -> PortResult<SegmentAppended>;

    /// What follows `after`, about `max_bytes` at most but at least one segment if there is one.
    async fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> PortResult<LogRead>;

    /// Like `read`, for a reader that watches this log and reads again at every notification: the result is complete as of the
    /// last notification, so a backend with remote logs can answer without asking the store.
    async fn read_watched(
        &self,
        task: &TaskId,
        after: Seq,
        max_bytes: usize,
    ) -> PortResult<LogRead> {
        self.read(task, after, max_bytes).await
    }

    /// Wakes when the log may have grown. Subscribe first, then read, then wait.
    fn watch(&self, task: &TaskId) -> LogWatch;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenOver {
    At { last: Seq, sealed: bool },
    Stale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentAppended {
    Stored,
    Stale,
    /// The log ends at `last`; the segment does not follow it.
    Gap {
        last: Seq,
    },
    Sealed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogRead {
    Log {
        segments: Vec<Segment>,
        /// The current end of the log.
        last: Seq,
        sealed: bool,
        /// Chunks up to here were removed, and the cursor was before that.
        missing_to: Option<Seq>,
    },
    /// There is no such log.
    Missing,
}

/// Notifies that a log has grown; may never wake (`LogWatch::deaf`), so callers also poll on a timer.
#[derive(Clone, Debug)]
pub struct LogWatch(Option<watch::Receiver<Seq>>);

impl LogWatch {
    pub fn new(receiver: watch::Receiver<Seq>) -> Self {
        Self(Some(receiver))
    }

    /// One that never wakes: for tests that prove that notifications are optional.
    pub fn deaf() -> Self {
        Self(None)
    }

    /// Returns when something may have changed, or after `at_most`.
    pub async fn changed(&mut self, at_most: Duration) {
        let hint = async {
            let grown = match &mut self.0 {
                Some(receiver) => receiver.changed().await.is_ok(),
                None => false,
            };
            if !grown {
                // The writer is gone; only the timer is left.
                std::future::pending::<()>().await;
            }
        };
        let _ = tokio::time::timeout(at_most, hint).await;
    }
}
