//! Group commit of the stream logs: while one group is being written, the next one collects. A process that streams a
//! hundred turns thus needs a few commits for their chunks, not a hundred.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use deadpool_postgres::Pool;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use ports::stream_log::SegmentAppended;
use ports::{PortError, PortResult};
use protocol::{Segment, TaskId};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::append_group::{self, PendingAppend};
use super::bounded_call::CALL;
use super::error::PostgresError;
use super::stream_log::SEQS;
use crate::live::LogEnd;
use crate::log_feed::LogFeed;
use crate::rules::append::check_segment;

/// Groups written at the same time, each on its own connection.
const IN_FLIGHT: usize = 2;
/// Maximum size of one group.
const GROUP_APPENDS: usize = 512;
const GROUP_BYTES: usize = 2 * 1024 * 1024;
/// Appends that may wait. Further ones wait in their callers, which slows these down.
const WAITING: usize = 1024;

#[derive(Clone)]
pub(crate) struct AppendQueue {
    pending: mpsc::Sender<PendingAppend>,
}

impl AppendQueue {
    pub(crate) fn start(
        pool: Pool,
        feed: Arc<dyn LogFeed>,
        tasks: &TaskTracker,
        closing: CancellationToken,
    ) -> Self {
        let (pending, incoming) = mpsc::channel(WAITING);
        let grouper = AppendGrouper {
            pool,
            feed,
            waiting: VecDeque::new(),
            busy: HashSet::new(),
            in_flight: FuturesUnordered::new(),
        };
        tasks.spawn(grouper.run(incoming, closing));
        Self { pending }
    }

    pub(crate) async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
        end: LogEnd,
    ) -> PortResult<SegmentAppended> {
        check_segment(&segment, SEQS)?;
        let (reply, answer) = oneshot::channel();
        let append = PendingAppend { task: task.clone(), fence, segment, end, reply };
        let written = async {
            self.pending.send(append).await.map_err(|_| PortError::Closed)?;
            answer.await.unwrap_or(Err(PortError::Closed))
        };
        tokio::time::timeout(CALL, written).await.unwrap_or(Err(PostgresError::Late.into()))
    }
}

struct AppendGrouper {
    pool: Pool,
    feed: Arc<dyn LogFeed>,
    waiting: VecDeque<PendingAppend>,
    /// Logs of the groups being written. A second segment of a log waits for the first, because it has to follow it.
    busy: HashSet<TaskId>,
    in_flight: FuturesUnordered<BoxFuture<'static, Vec<TaskId>>>,
}

impl AppendGrouper {
    async fn run(
        mut self,
        mut incoming: mpsc::Receiver<PendingAppend>,
        closing: CancellationToken,
    ) {
        loop {
            self.send_groups();
            tokio::select! {
                append = incoming.recv(), if self.waiting.len() < WAITING => match append {
                    Some(append) => self.waiting.push_back(append),
                    None => break,
                },
                Some(written) = self.in_flight.next() => self.free(&written),
                () = closing.cancelled() => break,
            }
            // Everything that has arrived meanwhile joins the same group.
            while self.waiting.len() < WAITING
                && let Ok(append) = incoming.try_recv()
            {
                self.waiting.push_back(append);
            }
        }
        // Waiting appends get `Closed` because their replies are dropped; groups being written complete.
        incoming.close();
        self.waiting.clear();
        while self.in_flight.next().await.is_some() {}
    }

    fn send_groups(&mut self) {
        while self.in_flight.len() < IN_FLIGHT {
            let group = self.next_group();
            if group.is_empty() {
                return;
            }
            let tasks: Vec<TaskId> = group.iter().map(|append| append.task.clone()).collect();
            self.busy.extend(tasks.iter().cloned());
            let (pool, feed) = (self.pool.clone(), self.feed.clone());
            self.in_flight.push(Box::pin(async move {
                append_group::write(&pool, &*feed, group).await;
                tasks
            }));
        }
    }

    /// The oldest append of each log that is not busy, as many as fit.
    fn next_group(&mut self) -> Vec<PendingAppend> {
        let mut group: Vec<PendingAppend> = Vec::new();
        let mut grouped: HashSet<TaskId> = HashSet::new();
        let mut left = VecDeque::new();
        let mut bytes = 0;
        for append in self.waiting.drain(..) {
            // The caller is gone, and never got a reply that the segment is stored.
            if append.reply.is_closed() {
                continue;
            }
            let full = group.len() >= GROUP_APPENDS || bytes >= GROUP_BYTES;
            if full || self.busy.contains(&append.task) || !grouped.insert(append.task.clone()) {
                left.push_back(append);
                continue;
            }
            bytes += append.segment.bytes.len();
            group.push(append);
        }
        self.waiting = left;
        group
    }

    fn free(&mut self, written: &[TaskId]) {
        for task in written {
            self.busy.remove(task);
        }
    }
}
