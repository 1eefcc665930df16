//! In-memory job queue of one process. It may lose everything with the process, because the store has every unclaimed
//! job, and at the next start all of them are due.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ports::PortResult;
use ports::queue::{Delivery, Queue, SettleDelivery};
use protocol::Job;
use tokio::sync::Notify;

/// How often a waiting worker checks even without a wake-up.
const POLL: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(86_400);

#[derive(Clone)]
pub(crate) struct LocalQueue {
    shared: Arc<SharedQueue>,
}

struct SharedQueue {
    queued_jobs: Mutex<QueuedJobs>,
    grown: Notify,
    deaf: bool,
}

#[derive(Default)]
struct QueuedJobs {
    next_position: u64,
    waiting: BTreeMap<u64, QueuedJob>,
    jobs: HashSet<Job>,
}

struct QueuedJob {
    job: Job,
    ready: Instant,
}

/// Result of taking from the queue.
enum TakeResult {
    Found(u64, QueuedJob),
    /// Nothing now; the first delayed job is ready at this time.
    Later(Option<Instant>),
}

impl LocalQueue {
    pub(crate) fn new(deaf: bool) -> Self {
        let shared = SharedQueue { queued_jobs: Mutex::default(), grown: Notify::new(), deaf };
        Self { shared: Arc::new(shared) }
    }
}

#[async_trait]
impl Queue for LocalQueue {
    async fn push(&self, job: &Job) -> PortResult<()> {
        self.shared.queued_jobs().append(job.clone(), Duration::ZERO);
        self.shared.wake();
        Ok(())
    }

    async fn pop(&self) -> PortResult<Delivery> {
        loop {
            let woken = self.shared.grown.notified();
            tokio::pin!(woken);
            // Listens before it looks, so that no job is missed in between.
            woken.as_mut().enable();
            let looked = self.shared.queued_jobs().take();
            let later = match looked {
                TakeResult::Found(position, waiting) => {
                    let job = waiting.job.clone();
                    let in_hand =
                        LocalDelivery { position, job: waiting.job, queue: self.shared.clone() };
                    return Ok(Delivery::new(job, Box::new(in_hand)));
                }
                TakeResult::Later(at) => at,
            };
            let wait =
                later.map_or(POLL, |at| at.saturating_duration_since(Instant::now()).min(POLL));
            // At least a millisecond: a job that is just becoming ready must not make this spin.
            let _ = tokio::time::timeout(wait.max(Duration::from_millis(1)), woken).await;
        }
    }

    async fn depth(&self) -> PortResult<u64> {
        Ok(self.shared.queued_jobs().waiting.len() as u64)
    }
}

impl SharedQueue {
    fn queued_jobs(&self) -> MutexGuard<'_, QueuedJobs> {
        self.queued_jobs.lock().expect("no code panics while it holds this lock")
    }

    fn wake(&self) {
        if !self.deaf {
            self.grown.notify_one();
        }
    }
}

impl QueuedJobs {
    fn append(&mut self, job: Job, delay: Duration) {
        let now = Instant::now();
        let position = self.next_position;
        self.next_position += 1;
        self.insert(position, QueuedJob { job, ready: now + delay.min(LONGEST_DELAY) });
    }

    /// A job that already waits is not added a second time.
    fn insert(&mut self, position: u64, waiting: QueuedJob) {
        if self.jobs.insert(waiting.job.clone()) {
            self.waiting.insert(position, waiting);
        }
    }

    fn take(&mut self) -> TakeResult {
        let now = Instant::now();
        let ready = self.waiting.iter().find(|(_, waiting)| waiting.ready <= now);
        let Some(position) = ready.map(|(position, _)| *position) else {
            return TakeResult::Later(self.waiting.values().map(|waiting| waiting.ready).min());
        };
        match self.waiting.remove(&position) {
            Some(waiting) => {
                self.jobs.remove(&waiting.job);
                TakeResult::Found(position, waiting)
            }
            None => TakeResult::Later(None),
        }
    }
}

/// A job that a worker holds.
struct LocalDelivery {
    position: u64,
    job: Job,
    queue: Arc<SharedQueue>,
}

#[async_trait]
impl SettleDelivery for LocalDelivery {
    async fn ack(&self) -> PortResult<()> {
        Ok(())
    }

    async fn to_back(&self, delay: Duration) -> PortResult<()> {
        self.queue.queued_jobs().append(self.job.clone(), delay);
        self.queue.wake();
        Ok(())
    }

    fn give_back(&self) {
        let waiting = QueuedJob { job: self.job.clone(), ready: Instant::now() };
        self.queue.queued_jobs().insert(self.position, waiting);
        self.queue.wake();
    }
}
