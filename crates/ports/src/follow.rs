//! Follows a log from a cursor to its end: subscribe, read, then wait. Used by every reader.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Segment, Seq, TaskId};

use crate::error::PortResult;
use crate::stream_log::{LogRead, LogWatch, StreamLog};

/// Bytes read from the log at a time: the memory cost of a stalled reader.
const READ_BYTES: usize = 64 * 1024;

pub struct LogFollower {
    log: Arc<dyn StreamLog>,
    task: TaskId,
    cursor: Seq,
    watch: LogWatch,
    poll: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogUpdate {
    /// The next segments, in order and without a gap.
    Segments(Vec<Segment>),
    /// Nothing new within the wait.
    Silent,
    /// The log is sealed and completely read.
    End,
    /// The log, or its part after the cursor, has been removed.
    Gone,
}

impl LogFollower {
    /// `poll` is how often the log is read even without a notification.
    pub fn new(log: Arc<dyn StreamLog>, task: TaskId, after: Seq, poll: Duration) -> Self {
        let watch = log.watch(&task);
        Self { log, task, cursor: after, watch, poll }
    }

    pub fn cursor(&self) -> Seq {
        self.cursor
    }

    /// Waits at most `max_wait` for new segments.
    pub async fn next(&mut self, max_wait: Duration) -> PortResult<LogUpdate> {
        let deadline = tokio::time::Instant::now() + max_wait;
        loop {
            match self.log.read_watched(&self.task, self.cursor, READ_BYTES).await? {
                LogRead::Missing | LogRead::Log { missing_to: Some(_), .. } => {
                    return Ok(LogUpdate::Gone);
                }
                LogRead::Log { segments, .. } if !segments.is_empty() => {
                    self.cursor = segments.last().map_or(self.cursor, |segment| segment.last);
                    return Ok(LogUpdate::Segments(segments));
                }
                LogRead::Log { sealed: true, last, .. } if last <= self.cursor => {
                    return Ok(LogUpdate::End);
                }
                LogRead::Log { .. } => {}
            }
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if left.is_zero() {
                return Ok(LogUpdate::Silent);
            }
            self.watch.changed(left.min(self.poll)).await;
        }
    }
}
