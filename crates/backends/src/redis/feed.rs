//! Passes the store's notifications to watchers in this process, and to the backlog for the others.

use std::sync::Arc;

use protocol::{Segment, TaskId};

use super::backlog::PublishBacklog;
use crate::live::{LogEnd, WatchedLogs};
use crate::log_feed::LogFeed;

pub(crate) struct RedisFeed {
    pub(crate) watched: Arc<WatchedLogs>,
    pub(crate) backlog: Arc<PublishBacklog>,
}

impl LogFeed for RedisFeed {
    fn grew(&self, task: &TaskId, fence: u64, segment: &Segment, end: LogEnd) {
        self.watched.receive(task, segment.clone(), end);
        self.backlog.grew(task, fence, segment.clone(), end);
    }

    fn gone(&self, tasks: &[TaskId]) {
        tasks.iter().for_each(|task| self.watched.invalidate(task));
        self.backlog.gone(tasks);
    }
}
