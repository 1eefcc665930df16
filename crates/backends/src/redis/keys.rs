//! The names under which things are kept and said in Redis.

use protocol::TaskId;

/// Where processes tell each other which jobs have ended, and which runs of agents have moved on.
pub(super) const ENDED: &str = "chat:ended";
pub(super) const MOVED: &str = "chat:moved";
/// The stream in which other programs say what operations came to, and the group of all processes that read it.
pub(super) const COMPLETIONS: &str = "chat:completions";
pub(super) const CONSUMERS: &str = "chat_consumers";
const NEWS: &str = "chat:news:";

/// The log of a task, as far as Redis has it: one entry per segment, whose id is the segment's last position.
pub(super) fn stream(task: &TaskId) -> String {
    format!("chat:stream:{task}")
}

/// A hash beside it: `fence` of the newest writer, `last` position, `status` (`running` or `sealed`).
pub(super) fn meta(task: &TaskId) -> String {
    format!("chat:task:meta:{task}")
}

/// The channel that carries what is appended, while it happens.
pub(super) fn news(task: &TaskId) -> String {
    format!("{NEWS}{task}")
}

pub(super) fn task_of_news(channel: &str) -> Option<TaskId> {
    channel.strip_prefix(NEWS).map(TaskId::from)
}
