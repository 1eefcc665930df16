//! What the store tells after a commit goes to whoever watches in this process, and into the backlog for the others.

use std::sync::Arc;

use protocol::{Segment, TaskId};

use super::backlog::Backlog;
use crate::feed::Feed;
use crate::live::{LogEnd, Watched};

pub(crate) struct RedisFeed {
    pub(super) watched: Arc<Watched>,
    pub(super) backlog: Arc<Backlog>,
}

impl Feed for RedisFeed {
    fn grew(&self, task: &TaskId, fence: u64, segment: &Segment, end: LogEnd) {
        self.watched.heard(task, segment.clone(), end);
        self.backlog.grew(task, fence, segment.clone(), end);
    }

    fn gone(&self, tasks: &[TaskId]) {
        tasks.iter().for_each(|task| self.watched.doubt(task));
        self.backlog.gone(tasks);
    }
}
