//! Stream logs: the chunks of each task, appended in segments and read by cursor.

use ports::stream_log::{LogRead, SegmentAppended, TakenOver};
use ports::{PortError, PortResult};
use protocol::{Segment, Seq, TaskId};
use tokio::sync::watch;

use super::BackendState;

#[derive(Default)]
pub struct TaskLog {
    fence: u64,
    pub last: Seq,
    pub sealed: bool,
    pub segments: Vec<Segment>,
    /// Chunks up to here were removed.
    trimmed_to: Seq,
}

/// Whether more segments may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppendMode {
    KeepOpen,
    Seal,
}

impl TaskLog {
    /// An empty log that has no writer yet.
    pub(crate) fn unwritten() -> Self {
        Self::default()
    }
}

impl BackendState {
    pub fn take_over(&mut self, task: &TaskId, fence: u64) -> TakenOver {
        let log = self.logs.entry(task.clone()).or_default();
        if fence < log.fence {
            return TakenOver::Stale;
        }
        log.fence = fence;
        TakenOver::At { last: log.last, sealed: log.sealed }
    }

    pub(crate) fn append(
        &mut self,
        task: &TaskId,
        fence: u64,
        segment: &Segment,
        end: AppendMode,
    ) -> PortResult<SegmentAppended> {
        if segment.first == 0 || segment.last < segment.first {
            return Err(PortError::Broken("a segment without chunks".into()));
        }
        let Some(log) = self.logs.get_mut(task) else { return Ok(SegmentAppended::Stale) };
        Ok(if log.fence != fence {
            SegmentAppended::Stale
        } else if log.sealed {
            SegmentAppended::Sealed
        } else if segment.first != log.last + 1 {
            SegmentAppended::Gap { last: log.last }
        } else {
            log.last = segment.last;
            log.sealed = end == AppendMode::Seal;
            log.segments.push(segment.clone());
            SegmentAppended::Stored
        })
    }

    pub fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> LogRead {
        let Some(log) = self.logs.get(task) else {
            return LogRead::Missing;
        };
        let mut segments = Vec::new();
        let mut bytes = 0;
        for segment in &log.segments {
            if let Some(rest) = segment.after(after) {
                bytes += rest.bytes.len();
                segments.push(rest);
                if bytes >= max_bytes {
                    break;
                }
            }
        }
        let missing_to = (after < log.trimmed_to).then_some(log.trimmed_to);
        LogRead::Log { segments, last: log.last, sealed: log.sealed, missing_to }
    }

    pub(crate) fn watch(&mut self, task: &TaskId) -> watch::Receiver<Seq> {
        // One sender per watcher: a shared one would wake its receivers in a nondeterministic order.
        let (sender, receiver) = watch::channel(0);
        self.watchers.entry(task.clone()).or_default().push(sender);
        receiver
    }

    /// Wakes the watchers of a log.
    pub(crate) fn wake(&mut self, task: &TaskId) {
        let last = self.logs.get(task).map_or(0, |log| log.last);
        if let Some(watchers) = self.watchers.get_mut(task) {
            watchers.retain(|watcher| watcher.send(last).is_ok());
        }
    }

    /// Removes the beginning of a log, as a backend that trims does.
    pub fn trim(&mut self, task: &TaskId, to: Seq) {
        if let Some(log) = self.logs.get_mut(task) {
            log.segments.retain(|segment| segment.last > to);
            log.trimmed_to = log.segments.first().map_or(log.last, |segment| segment.first - 1);
        }
    }
}
