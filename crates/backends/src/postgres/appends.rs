//! Group commit of the logs: while one group is on its way to the disk, the next one gathers. A process that streams a
//! hundred turns so needs a few commits in the time of one turn's chunk, not a hundred.

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

use super::append_group::{self, Append};
use super::call::CALL;
use super::fault::Fault;
use super::stream_log::check;
use crate::feed::Feed;
use crate::live::LogEnd;

/// Groups on their way at the same time, each on a connection of its own.
const IN_FLIGHT: usize = 2;
/// The most one group holds.
const GROUP_APPENDS: usize = 512;
const GROUP_BYTES: usize = 2 * 1024 * 1024;
/// Appends that wait to be taken up. More of them wait in their callers, who so are slowed down.
const WAITING: usize = 1024;

#[derive(Clone)]
pub(super) struct Appends {
    line: mpsc::Sender<Append>,
}

impl Appends {
    pub(super) fn start(
        pool: Pool,
        feed: Arc<dyn Feed>,
        tasks: &TaskTracker,
        closing: CancellationToken,
    ) -> Self {
        let (line, incoming) = mpsc::channel(WAITING);
        let gatherer = Gatherer {
            pool,
            feed,
            waiting: VecDeque::new(),
            busy: HashSet::new(),
            in_flight: FuturesUnordered::new(),
        };
        tasks.spawn(gatherer.run(incoming, closing));
        Self { line }
    }

    pub(super) async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
        end: LogEnd,
    ) -> PortResult<SegmentAppended> {
        check(&segment)?;
        let (reply, answer) = oneshot::channel();
        let append = Append { task: task.clone(), fence, segment, end, reply };
        let written = async {
            self.line.send(append).await.map_err(|_| PortError::Closed)?;
            answer.await.unwrap_or(Err(PortError::Closed))
        };
        tokio::time::timeout(CALL, written).await.unwrap_or(Err(Fault::Late.into()))
    }
}

struct Gatherer {
    pool: Pool,
    feed: Arc<dyn Feed>,
    waiting: VecDeque<Append>,
    /// Logs of the groups on their way. A second segment of a log waits for the first, because it has to follow it.
    busy: HashSet<TaskId>,
    in_flight: FuturesUnordered<BoxFuture<'static, Vec<TaskId>>>,
}

impl Gatherer {
    async fn run(mut self, mut incoming: mpsc::Receiver<Append>, closing: CancellationToken) {
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
            // Whatever else has come in the meantime goes with the same group.
            while self.waiting.len() < WAITING
                && let Ok(append) = incoming.try_recv()
            {
                self.waiting.push_back(append);
            }
        }
        // Those that wait are answered `Closed` as their replies are dropped; those on their way end by themselves.
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

    /// The oldest of each log that is not busy, as many as fit.
    fn next_group(&mut self) -> Vec<Append> {
        let mut group: Vec<Append> = Vec::new();
        let mut taken: HashSet<TaskId> = HashSet::new();
        let mut left = VecDeque::new();
        let mut bytes = 0;
        for append in self.waiting.drain(..) {
            // Nobody waits for it any more, and nobody has been told that it was stored.
            if append.reply.is_closed() {
                continue;
            }
            let full = group.len() >= GROUP_APPENDS || bytes >= GROUP_BYTES;
            if full || self.busy.contains(&append.task) || !taken.insert(append.task.clone()) {
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
