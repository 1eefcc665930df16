//! Names of keys and channels in Redis.

use protocol::TaskId;

/// Channels for ended jobs and for advanced executions.
pub(crate) const ENDED: &str = "chat:ended";
pub(crate) const MOVED: &str = "chat:moved";
/// Stream in which other programs report completions of operations, and the consumer group of all processes.
pub(crate) const COMPLETIONS: &str = "chat:completions";
pub(crate) const CONSUMERS: &str = "chat_consumers";
const NEWS: &str = "chat:news:";

/// Stream with the log of a task, as far as Redis has it: one entry per segment, whose id is the segment's last
/// position.
pub(crate) fn stream(task: &TaskId) -> String {
    format!("chat:stream:{task}")
}

/// Hash with `fence` of the newest writer, `last` position, and `status` (`running` or `sealed`).
pub(crate) fn meta(task: &TaskId) -> String {
    format!("chat:task:meta:{task}")
}

/// Channel on which new segments are published.
pub(crate) fn news(task: &TaskId) -> String {
    format!("{NEWS}{task}")
}

pub(crate) fn task_of_news(channel: &str) -> Option<TaskId> {
    channel.strip_prefix(NEWS).map(TaskId::from)
}
