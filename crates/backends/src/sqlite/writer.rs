//! The one writer: a thread that takes whatever waits, writes it as a group and commits once. It never
//! waits to collect more, so a lone write costs one sync and a crowd shares one.

use std::fs::File;
use std::io;
use std::time::Duration;

use ports::{PortError, PortResult};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::fault::Fault;
use super::job::{Done, Job, Need, Task};
use super::pen::Pen;

/// Writes that may wait before callers are held back.
const WAITING: usize = 4096;
/// Writes in one transaction: enough to share a sync among all live turns, few enough to answer soon.
const GROUP: usize = 256;
/// How long the disk may take before a caller is told that it does not answer.
const STALL: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Writer {
    orders: mpsc::Sender<Order>,
}

enum Order {
    Write(Box<dyn Job>),
    Stop(oneshot::Sender<()>),
}

impl Writer {
    /// `lock` is let go when the thread has closed the database, and not before.
    pub(crate) fn start(pen: Pen, lock: File) -> io::Result<Self> {
        let (orders, waiting) = mpsc::channel(WAITING);
        // The thread ends when it is told to stop or when the last handle is gone.
        std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write_until_stopped(pen, waiting, lock))?;
        Ok(Self { orders })
    }

    /// On stable storage when it returns `Ok`. The work may run more than once, but takes effect once.
    pub(crate) async fn run<T, F>(&self, need: Need, work: F) -> PortResult<T>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<Done<T>, Fault> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let order = Order::Write(Box::new(Task::new(need, work, reply)));
        let written = async {
            self.orders.send(order).await.map_err(|_| PortError::Closed)?;
            answer.await.map_err(|_| PortError::Closed)?
        };
        tokio::time::timeout(STALL, written).await.unwrap_or_else(|_| Err(stalled()))
    }

    pub(crate) async fn close(&self) -> PortResult<()> {
        let (reply, stopped) = oneshot::channel();
        let closed = async {
            if self.orders.send(Order::Stop(reply)).await.is_ok() {
                // An error means the thread is gone, which is what was wanted.
                let _ = stopped.await;
            }
        };
        tokio::time::timeout(STALL, closed).await.map_err(|_| stalled())
    }
}

fn stalled() -> PortError {
    PortError::Unavailable(format!("the disk has not answered for {} s", STALL.as_secs()))
}

fn write_until_stopped(mut pen: Pen, mut waiting: mpsc::Receiver<Order>, lock: File) {
    let mut stopped = Vec::new();
    while let Some(order) = waiting.blocking_recv() {
        let mut group = Vec::new();
        let mut next = Some(order);
        while let Some(order) = next {
            match order {
                Order::Write(job) => group.push(job),
                Order::Stop(reply) => {
                    // Nothing more is taken in; what already waits is still written.
                    waiting.close();
                    stopped.push(reply);
                }
            }
            next = if group.len() < GROUP { waiting.try_recv().ok() } else { None };
        }
        if !group.is_empty() {
            pen.write(group);
        }
    }
    pen.finish();
    drop(lock);
    for reply in stopped {
        let _ = reply.send(());
    }
}
