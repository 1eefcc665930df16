//! One write: what it does inside the transaction, and the answer it gives once that is on disk.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ports::{PortError, PortResult};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::Fault;
use crate::live::{Live, News};

/// What a write gives back, and what the rest of the process learns when it is on disk.
#[derive(Debug)]
pub(crate) struct Done<T> {
    pub(crate) value: T,
    pub(crate) news: Vec<News>,
}

impl<T> Done<T> {
    pub(crate) fn quietly(value: T) -> Self {
        Self { value, news: Vec::new() }
    }

    pub(crate) fn with(value: T, news: News) -> Self {
        Self { value, news: vec![news] }
    }
}

/// Whether a write may use the reserve that is kept for when the disk is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// New work: refused when there is no room.
    Ordinary,
    /// What ends or keeps accepted work, or makes room: must still be possible on a full disk.
    Essential,
}

/// The writer's view of a job, whatever it answers.
pub(crate) trait Job: Send {
    fn need(&self) -> Need;
    /// Does the work in the open transaction. May be called again when that transaction was undone.
    fn run(&mut self, db: &Connection) -> Ran;
    /// The transaction was undone, or never begun.
    fn refuse(&mut self, error: PortError);
    /// Tells the process, then the caller. Called once, after the commit.
    fn answer(self: Box<Self>, live: &Live);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    Done,
    /// It failed on its own account; the others need not care.
    Failed,
    /// The disk is full, which concerns the whole group.
    NoRoom,
}

pub(crate) struct Task<T, F> {
    need: Need,
    work: F,
    outcome: PortResult<Done<T>>,
    reply: oneshot::Sender<PortResult<T>>,
}

impl<T, F> Task<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<Done<T>, Fault> + Send,
{
    pub(crate) fn new(need: Need, work: F, reply: oneshot::Sender<PortResult<T>>) -> Self {
        Self { need, work, outcome: Err(PortError::Closed), reply }
    }
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<Done<T>, Fault> + Send,
{
    fn need(&self) -> Need {
        self.need
    }

    fn run(&mut self, db: &Connection) -> Ran {
        // A panic must not end the writer, on which everybody depends. The work is undone with its
        // savepoint, and nothing of the closure is used again but its inputs.
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(db)))
            .unwrap_or_else(|_| Err(Fault::broken("a write to the database panicked")));
        let (outcome, ran) = match result {
            Ok(done) => (Ok(done), Ran::Done),
            Err(fault) => {
                let ran = if fault.is_full() { Ran::NoRoom } else { Ran::Failed };
                (Err(PortError::from(&fault)), ran)
            }
        };
        self.outcome = outcome;
        ran
    }

    fn refuse(&mut self, error: PortError) {
        self.outcome = Err(error);
    }

    fn answer(self: Box<Self>, live: &Live) {
        let answer = self.outcome.map(|done| {
            done.news.into_iter().for_each(|news| live.tell(news));
            done.value
        });
        // Whoever asked may have stopped waiting; what was written stays written.
        let _ = self.reply.send(answer);
    }
}
