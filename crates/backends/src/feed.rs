//! Between the store that holds the logs and what carries their news to other processes. The store is the truth: a feed
//! may lose anything, and only latency suffers.

use async_trait::async_trait;
use ports::PortResult;
use protocol::{Segment, Seq, TaskId};

use crate::live::LogEnd;

/// Told by the store after every commit that changed a log. Never waits and never fails.
pub(crate) trait Feed: Send + Sync {
    fn grew(&self, task: &TaskId, fence: u64, segment: &Segment, end: LogEnd);
    fn gone(&self, tasks: &[TaskId]);
}

/// Where logs end, for many of them in one question: asked on a timer, in place of news that were lost.
#[async_trait]
pub(crate) trait LogEnds: Send + Sync {
    /// Logs that are not there are left out.
    async fn ends(&self, tasks: &[TaskId]) -> PortResult<Vec<LogAt>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogAt {
    pub(crate) task: TaskId,
    pub(crate) last: Seq,
    pub(crate) end: LogEnd,
}
