//! Events published in this process after a commit, in commit order.

mod log_tail;
mod log_tails;
mod watched_logs;

use protocol::{Segment, TaskId};

use self::log_tails::LogTails;
pub(crate) use self::watched_logs::WatchedLogs;

#[derive(Debug)]
pub(crate) enum StoreEvent {
    LogOpened(TaskId),
    LogGrew { task: TaskId, segment: Segment, end: LogEnd },
    LogsGone(Vec<TaskId>),
}

/// Whether more segments may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEnd {
    Open,
    Sealed,
}

impl LogEnd {
    pub(crate) fn of(sealed: bool) -> Self {
        if sealed { Self::Sealed } else { Self::Open }
    }
}

/// In-memory part of the store: caches and wake-ups. Losing it costs time, never data.
pub(crate) struct LiveLogs {
    pub(crate) tails: LogTails,
    pub(crate) deaf: bool,
}

impl LiveLogs {
    pub(crate) fn new(deaf: bool) -> Self {
        Self { tails: LogTails::default(), deaf }
    }

    pub(crate) fn publish(&self, news: StoreEvent) {
        match news {
            StoreEvent::LogOpened(task) => self.tails.opened(&task),
            StoreEvent::LogGrew { task, segment, end } => self.tails.grew(task, segment, end),
            StoreEvent::LogsGone(tasks) => self.tails.remove(&tasks),
        }
    }
}
