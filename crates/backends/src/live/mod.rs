//! What the rest of the process is told after a commit, in the order of the commits.

mod tail;
mod tails;
mod watched;

use protocol::{Segment, TaskId};

use self::tails::Tails;
pub(crate) use self::watched::Watched;

#[derive(Debug)]
pub(crate) enum News {
    LogOpened(TaskId),
    LogGrew { task: TaskId, segment: Segment, end: LogEnd },
    LogsGone(Vec<TaskId>),
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
    pub(crate) deaf: bool,
}

impl Live {
    pub(crate) fn new(deaf: bool) -> Self {
        Self { tails: Tails::default(), deaf }
    }

    pub(crate) fn tell(&self, news: News) {
        match news {
            News::LogOpened(task) => self.tails.opened(&task),
            News::LogGrew { task, segment, end } => self.tails.grew(task, segment, end),
            News::LogsGone(tasks) => self.tails.forget(&tasks),
        }
    }
}
