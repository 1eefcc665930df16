//! One write: its work inside the transaction, and the reply after the commit.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ports::{PortError, PortResult};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::error::SqliteError;
use crate::live::{LiveLogs, StoreEvent};

/// Result of a write, and the events to publish in this process after the commit.
#[derive(Debug)]
pub(crate) struct WriteOutput<T> {
    pub(crate) value: T,
    pub(crate) news: Vec<StoreEvent>,
}

impl<T> WriteOutput<T> {
    pub(crate) fn silent(value: T) -> Self {
        Self { value, news: Vec::new() }
    }

    pub(crate) fn with_event(value: T, news: StoreEvent) -> Self {
        Self { value, news: vec![news] }
    }
}

/// Whether a write may use the disk reserve when the disk is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WritePriority {
    /// New work: refused when the disk is full.
    Ordinary,
    /// Completes or keeps accepted work, or frees space: must still be possible on a full disk.
    Essential,
}

/// A queued write, independent of its result type.
pub(crate) trait WriteJob: Send {
    fn priority(&self) -> WritePriority;
    /// Does the work in the open transaction. May be called again after that transaction was rolled back.
    fn run(&mut self, db: &Connection) -> JobOutcome;
    /// Sets the error. The transaction was rolled back, or never began.
    fn refuse(&mut self, error: PortError);
    /// Publishes the events, then replies to the caller. Called once, after the commit.
    fn answer(self: Box<Self>, live: &LiveLogs);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobOutcome {
    Done,
    /// This job alone failed; the others are not affected.
    Failed,
    /// The disk is full, which affects the whole group.
    DiskFull,
}

pub(crate) struct QueuedWrite<T, F> {
    priority: WritePriority,
    work: F,
    outcome: PortResult<WriteOutput<T>>,
    reply: oneshot::Sender<PortResult<T>>,
}

impl<T, F> QueuedWrite<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<WriteOutput<T>, SqliteError> + Send,
{
    pub(crate) fn new(
        priority: WritePriority,
        work: F,
        reply: oneshot::Sender<PortResult<T>>,
    ) -> Self {
        Self { priority, work, outcome: Err(PortError::Closed), reply }
    }
}

impl<T, F> WriteJob for QueuedWrite<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<WriteOutput<T>, SqliteError> + Send,
{
    fn priority(&self) -> WritePriority {
        self.priority
    }

    fn run(&mut self, db: &Connection) -> JobOutcome {
        // A panic must not end the writer thread, which serves all callers. The work is rolled back to its savepoint,
        // and nothing of the closure is used again but its inputs.
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(db)))
            .unwrap_or_else(|_| Err(SqliteError::broken("a write to the database panicked")));
        let (outcome, ran) = match result {
            Ok(done) => (Ok(done), JobOutcome::Done),
            Err(fault) => {
                let ran = if fault.is_full() { JobOutcome::DiskFull } else { JobOutcome::Failed };
                (Err(PortError::from(&fault)), ran)
            }
        };
        self.outcome = outcome;
        ran
    }

    fn refuse(&mut self, error: PortError) {
        self.outcome = Err(error);
    }

    fn answer(self: Box<Self>, live: &LiveLogs) {
        let answer = self.outcome.map(|done| {
            done.news.into_iter().for_each(|news| live.publish(news));
            done.value
        });
        // The caller may have stopped waiting; the write stays committed.
        let _ = self.reply.send(answer);
    }
}
