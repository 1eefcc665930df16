//! Interface between the store that holds the stream logs and what notifies other processes. The store is the source
//! of truth: a lost notification only costs latency.

use async_trait::async_trait;
use ports::PortResult;
use protocol::{Segment, Seq, TaskId};

use crate::live::LogEnd;

/// Called by the store after every commit that changed a log. Never waits and never fails.
pub(crate) trait LogFeed: Send + Sync {
    fn grew(&self, task: &TaskId, fence: u64, segment: &Segment, end: LogEnd);
    fn gone(&self, tasks: &[TaskId]);
}

/// Ends of many logs in one query, polled on a timer to make up for lost notifications.
#[async_trait]
pub(crate) trait LogEnds: Send + Sync {
    /// Missing logs are left out.
    async fn ends(&self, tasks: &[TaskId]) -> PortResult<Vec<LogPosition>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogPosition {
    pub(crate) task: TaskId,
    pub(crate) last: Seq,
    pub(crate) end: LogEnd,
}
