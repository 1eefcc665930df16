//! The queue of one process: turn ids in order, in memory. It may forget everything with the process,
//! because the outbox has every turn that nobody has claimed, and at the next start all of them are due.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ports::PortResult;
use ports::queue::{Delivery, Queue, Settle};
use protocol::TurnId;
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
    turns: HashSet<TurnId>,
}

struct Waiting {
    turn: TurnId,
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
    async fn push(&self, turn: &TurnId) -> PortResult<()> {
        self.shared.line().append(turn.clone(), Duration::ZERO);
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
                    let turn_id = waiting.turn.clone();
                    let in_hand = InHand { place, turn: waiting.turn, queue: self.shared.clone() };
                    return Ok(Delivery::new(turn_id, Box::new(in_hand)));
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
    fn append(&mut self, turn: TurnId, delay: Duration) {
        let now = Instant::now();
        let place = self.next_place;
        self.next_place += 1;
        self.insert(place, Waiting { turn, ready: now + delay.min(LONGEST_DELAY) });
    }

    /// A turn that already waits is not added a second time.
    fn insert(&mut self, place: u64, waiting: Waiting) {
        if self.turns.insert(waiting.turn.clone()) {
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
                self.turns.remove(&waiting.turn);
                Look::Found(place, waiting)
            }
            None => Look::Later(None),
        }
    }
}

/// A turn that somebody works on.
struct InHand {
    place: u64,
    turn: TurnId,
    queue: Arc<Shared>,
}

#[async_trait]
impl Settle for InHand {
    async fn ack(&self) -> PortResult<()> {
        Ok(())
    }

    async fn to_back(&self, delay: Duration) -> PortResult<()> {
        self.queue.line().append(self.turn.clone(), delay);
        self.queue.wake();
        Ok(())
    }

    fn give_back(&self) {
        let waiting = Waiting { turn: self.turn.clone(), ready: Instant::now() };
        self.queue.line().insert(self.place, waiting);
        self.queue.wake();
    }
}
