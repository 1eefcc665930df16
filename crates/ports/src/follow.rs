//! Following a log from a cursor to its end: the one shape for every reader. Listen, look, then wait.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Segment, Seq, TaskId};

use crate::error::PortResult;
use crate::stream_log::{LogRead, LogWatch, StreamLog};

/// Bytes taken from the log at a time: what a reader that stalls can cost.
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
    /// What comes next, in order and without a gap.
    Segments(Vec<Segment>),
    /// Nothing new for as long as the caller was willing to wait.
    Silent,
    /// The log is sealed and all of it was given out.
    End,
    /// The log is gone, or its part after the cursor is.
    Gone,
}

impl LogFollower {
    /// `poll` is how often the log is looked at even when no hint comes.
    pub fn new(log: Arc<dyn StreamLog>, task: TaskId, after: Seq, poll: Duration) -> Self {
        let watch = log.watch(&task);
        Self { log, task, cursor: after, watch, poll }
    }

    pub fn cursor(&self) -> Seq {
        self.cursor
    }

    /// Waits at most `patience` for something new.
    pub async fn next(&mut self, patience: Duration) -> PortResult<LogUpdate> {
        let deadline = tokio::time::Instant::now() + patience;
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
