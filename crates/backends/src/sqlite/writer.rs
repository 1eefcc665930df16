//! The single writer: a thread that takes all waiting writes as a group and commits once. It never waits for more, so
//! a single write costs one sync and concurrent ones share one.

use std::fs::File;
use std::io;
use std::time::Duration;

use ports::{PortError, PortResult};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::error::SqliteError;
use super::group_commit::GroupCommitter;
use super::write_job::{QueuedWrite, WriteJob, WriteOutput, WritePriority};

/// Writes that may wait before further callers have to.
const WAITING: usize = 4096;
/// Writes in one transaction: enough to share a sync among all live turns, few enough for short replies.
const GROUP: usize = 256;
/// How long the disk may take before callers get an error.
const STALL: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct StoreWriter {
    commands: mpsc::Sender<WriterCommand>,
}

enum WriterCommand {
    Write(Box<dyn WriteJob>),
    Stop(oneshot::Sender<()>),
}

impl StoreWriter {
    /// `lock` is released only after the thread has closed the database.
    pub(crate) fn start(committer: GroupCommitter, lock: File) -> io::Result<Self> {
        let (commands, waiting) = mpsc::channel(WAITING);
        // The thread ends on `Stop`, or when the last handle is dropped.
        std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write_until_stopped(committer, waiting, lock))?;
        Ok(Self { commands })
    }

    /// On stable storage when it returns `Ok`. The work may run more than once, but takes effect once.
    pub(crate) async fn run<T, F>(&self, priority: WritePriority, work: F) -> PortResult<T>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<WriteOutput<T>, SqliteError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let order = WriterCommand::Write(Box::new(QueuedWrite::new(priority, work, reply)));
        let written = async {
            self.commands.send(order).await.map_err(|_| PortError::Closed)?;
            answer.await.map_err(|_| PortError::Closed)?
        };
        tokio::time::timeout(STALL, written).await.unwrap_or_else(|_| Err(stalled_disk()))
    }

    pub(crate) async fn close(&self) -> PortResult<()> {
        let (reply, stopped) = oneshot::channel();
        let closed = async {
            if self.commands.send(WriterCommand::Stop(reply)).await.is_ok() {
                // An error means that the thread has already ended.
                let _ = stopped.await;
            }
        };
        tokio::time::timeout(STALL, closed).await.map_err(|_| stalled_disk())
    }
}

fn stalled_disk() -> PortError {
    PortError::Unavailable(format!("the disk has not responded for {} s", STALL.as_secs()))
}

fn write_until_stopped(
    mut committer: GroupCommitter,
    mut waiting: mpsc::Receiver<WriterCommand>,
    lock: File,
) {
    let mut stopped = Vec::new();
    while let Some(order) = waiting.blocking_recv() {
        let mut group = Vec::new();
        let mut next = Some(order);
        while let Some(order) = next {
            match order {
                WriterCommand::Write(job) => group.push(job),
                WriterCommand::Stop(reply) => {
                    // No further writes are accepted; those already waiting are still written.
                    waiting.close();
                    stopped.push(reply);
                }
            }
            next = if group.len() < GROUP { waiting.try_recv().ok() } else { None };
        }
        if !group.is_empty() {
            committer.write(group);
        }
    }
    committer.finish();
    drop(lock);
    for reply in stopped {
        let _ = reply.send(());
    }
}
