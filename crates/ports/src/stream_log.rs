//! The ordered chunks of one task, replayable and live.

use std::time::Duration;

use async_trait::async_trait;
use protocol::{Segment, Seq, TaskId};
use tokio::sync::watch;

use crate::error::PortResult;

/// Laws: positions are dense (`a_gap_is_refused`); reading after `n` gives everything stored after `n`,
/// in order, in pieces (`a_read_is_complete_from_any_cursor`); a writer with an older fence changes
/// nothing (`an_old_fence_cannot_append`); a seal is final (`nothing_follows_a_seal`); a start that is
/// no longer there is said, never skipped (`a_missing_start_is_said`); what was appended is there after
/// a restart (`an_appended_segment_survives_a_restart`).
#[async_trait]
pub trait StreamLog: Send + Sync {
    /// Makes `fence` the writer of this log, which exists from then on, and says where it stands. After
    /// this no older fence can append.
    async fn take_over(&self, task: &TaskId, fence: u64) -> PortResult<TakenOver>;

    /// Stored when it returns `Stored`; only then may anybody see it.
    async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
    ) -> PortResult<SegmentAppended>;

    /// Appends the last segment and closes the log for good.
    async fn seal(&self, task: &TaskId, fence: u64, last: Segment) -> PortResult<SegmentAppended>;

    /// What follows `after`, at most about `max_bytes` of it but at least one segment if there is one.
    async fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> PortResult<LogRead>;

    /// As `read`, for somebody who watches this log and reads again at every hint: the answer is complete as of the
    /// last hint, which a backend whose logs are written elsewhere can give without asking the store.
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
        /// Where the log ends now.
        last: Seq,
        sealed: bool,
        /// Chunks up to here are no longer kept, and the cursor was before that.
        missing_to: Option<Seq>,
    },
    /// There is no such log.
    Missing,
}

/// A hint that a log has grown; may be silent for ever (`LogWatch::deaf`), so callers also look on a timer.
#[derive(Clone, Debug)]
pub struct LogWatch(Option<watch::Receiver<Seq>>);

impl LogWatch {
    pub fn new(receiver: watch::Receiver<Seq>) -> Self {
        Self(Some(receiver))
    }

    /// One that never wakes: for tests that prove that hints are only hints.
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
                // Whoever wrote is gone; the timer is all that is left.
                std::future::pending::<()>().await;
            }
        };
        let _ = tokio::time::timeout(at_most, hint).await;
    }
}
