//! The queue of one process: jobs in order, in memory. It may forget everything with the process, because the store
//! has every job that nobody has claimed, and at the next start all of them are due.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ports::PortResult;
use ports::queue::{Delivery, Queue, SettleDelivery};
use protocol::Job;
use tokio::sync::Notify;

/// How often a waiting worker looks even when nothing wakes it.
const POLL: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(86_400);

#[derive(Clone)]
pub(crate) struct LocalQueue {
    shared: Arc<Shared>,
}

struct Shared {
    line: Mutex<Line>,
    grown: Notify,
    deaf: bool,
}

#[derive(Default)]
struct Line {
    next_place: u64,
    waiting: BTreeMap<u64, Waiting>,
    jobs: HashSet<Job>,
}

struct Waiting {
    job: Job,
    ready: Instant,
}

/// What a look at the line gives.
enum Look {
    Found(u64, Waiting),
    /// Nothing now; the first that was put off is ready then.
    Later(Option<Instant>),
}

impl LocalQueue {
    pub(crate) fn new(deaf: bool) -> Self {
        let shared = Shared { line: Mutex::default(), grown: Notify::new(), deaf };
        Self { shared: Arc::new(shared) }
    }
}

#[async_trait]
impl Queue for LocalQueue {
    async fn push(&self, job: &Job) -> PortResult<()> {
        self.shared.line().append(job.clone(), Duration::ZERO);
        self.shared.wake();
        Ok(())
    }

    async fn pop(&self) -> PortResult<Delivery> {
        loop {
            let woken = self.shared.grown.notified();
            tokio::pin!(woken);
            // Listening begins before the look, so that nothing falls between the two.
            woken.as_mut().enable();
            let looked = self.shared.line().take();
            let later = match looked {
                Look::Found(place, waiting) => {
                    let job = waiting.job.clone();
                    let in_hand = InHand { place, job: waiting.job, queue: self.shared.clone() };
                    return Ok(Delivery::new(job, Box::new(in_hand)));
                }
                Look::Later(at) => at,
            };
            let wait =
                later.map_or(POLL, |at| at.saturating_duration_since(Instant::now()).min(POLL));
            // A millisecond at least: one that is just becoming ready must not make this spin.
            let _ = tokio::time::timeout(wait.max(Duration::from_millis(1)), woken).await;
        }
    }

    async fn depth(&self) -> PortResult<u64> {
        Ok(self.shared.line().waiting.len() as u64)
    }
}

impl Shared {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().expect("no code panics while it holds this lock")
    }

    fn wake(&self) {
        if !self.deaf {
            self.grown.notify_one();
        }
    }
}

impl Line {
    fn append(&mut self, job: Job, delay: Duration) {
        let now = Instant::now();
        let place = self.next_place;
        self.next_place += 1;
        self.insert(place, Waiting { job, ready: now + delay.min(LONGEST_DELAY) });
    }

    /// A job that already waits is not added a second time.
    fn insert(&mut self, place: u64, waiting: Waiting) {
        if self.jobs.insert(waiting.job.clone()) {
            self.waiting.insert(place, waiting);
        }
    }

    fn take(&mut self) -> Look {
        let now = Instant::now();
        let ready = self.waiting.iter().find(|(_, waiting)| waiting.ready <= now);
        let Some(place) = ready.map(|(place, _)| *place) else {
            return Look::Later(self.waiting.values().map(|waiting| waiting.ready).min());
        };
        match self.waiting.remove(&place) {
            Some(waiting) => {
                self.jobs.remove(&waiting.job);
                Look::Found(place, waiting)
            }
            None => Look::Later(None),
        }
    }
}

/// A job that somebody works on.
struct InHand {
    place: u64,
    job: Job,
    queue: Arc<Shared>,
}

#[async_trait]
impl SettleDelivery for InHand {
    async fn ack(&self) -> PortResult<()> {
        Ok(())
    }

    async fn to_back(&self, delay: Duration) -> PortResult<()> {
        self.queue.line().append(self.job.clone(), delay);
        self.queue.wake();
        Ok(())
    }

    fn give_back(&self) {
        let waiting = Waiting { job: self.job.clone(), ready: Instant::now() };
        self.queue.line().insert(self.place, waiting);
        self.queue.wake();
    }
}
