//! What the rest of the process is told after a commit, in the order of the commits.

use protocol::{Segment, TaskId};
use tokio::sync::Notify;

use super::tails::Tails;

#[derive(Debug)]
pub(crate) enum News {
    LogOpened(TaskId),
    LogGrew { task: TaskId, segment: Segment, end: LogEnd },
    LogsGone(Vec<TaskId>),
    QueueGrew,
}

/// Whether anything may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEnd {
    Open,
    Sealed,
}

/// The in-memory side of the store: caches and wake-ups. Losing all of it costs time and nothing else.
pub(crate) struct Live {
    pub(crate) tails: Tails,
    /// Wakes one of those who wait for a delivery.
    pub(crate) queue: Notify,
    pub(crate) deaf: bool,
}

impl Live {
    pub(crate) fn new(deaf: bool) -> Self {
        Self { tails: Tails::default(), queue: Notify::new(), deaf }
    }

    pub(crate) fn tell(&self, news: News) {
        match news {
            News::LogOpened(task) => self.tails.opened(&task),
            News::LogGrew { task, segment, end } => self.tails.grew(task, segment, end),
            News::LogsGone(tasks) => self.tails.forget(&tasks),
            News::QueueGrew => self.wake_queue(),
        }
    }

    pub(crate) fn wake_queue(&self) {
        if !self.deaf {
            self.queue.notify_one();
        }
    }
}
