//! The tails of all logs that are written or watched, bounded in number and in bytes. A cache: every
//! entry may vanish at any time, and readers then look in the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use ports::stream_log::Read;
use protocol::{Segment, Seq, TaskId};
use tokio::sync::watch;

use super::LogEnd;
use super::tail::Tail;

/// Bytes kept of all logs together.
const BYTES: usize = 64 * 1024 * 1024;
/// Logs kept that nobody watches; each costs a few hundred bytes.
const UNWATCHED: usize = 16 * 1024;

#[derive(Default)]
pub(crate) struct Tails {
    logs: RwLock<HashMap<TaskId, Arc<Tail>>>,
    held: AtomicUsize,
    steps: AtomicU64,
    /// Counts removals: what was read from the database before one must not be learnt after it.
    removals: AtomicU64,
    /// When the number of logs was last brought down, the number that were left.
    left: AtomicUsize,
}

impl Tails {
    pub(crate) fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> Option<Read> {
        self.get(task)?.read(after, max_bytes)
    }

    pub(crate) fn watch(&self, task: &TaskId) -> watch::Receiver<Seq> {
        self.get_or_create(task).watch()
    }

    /// To be taken before a look at the database, and given to `learn` with what it said.
    pub(crate) fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    pub(crate) fn learn(&self, task: &TaskId, removals: u64, last: Seq, end: LogEnd) {
        let logs = self.logs.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        if removals == self.removals()
            && let Some(tail) = logs.get(task)
        {
            tail.learn(last, end);
        }
    }

    pub(crate) fn opened(&self, task: &TaskId) {
        self.get_or_create(task).learn(0, LogEnd::Open);
    }

    pub(crate) fn grew(&self, task: TaskId, segment: Segment, end: LogEnd) {
        let step = self.steps.fetch_add(1, Ordering::Relaxed);
        let (before, after) = self.get_or_create(&task).grow(segment, end, step);
        self.held.fetch_add(after, Ordering::Relaxed);
        let held = self.held.fetch_sub(before, Ordering::Relaxed) - before;
        if held > BYTES {
            self.shrink();
        }
    }

    pub(crate) fn forget(&self, tasks: &[TaskId]) {
        let mut logs = self.logs.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.removals.fetch_add(1, Ordering::Release);
        for tail in tasks.iter().filter_map(|task| logs.remove(task)) {
            self.held.fetch_sub(tail.shrink(), Ordering::Relaxed);
            tail.wake();
        }
    }

    fn get(&self, task: &TaskId) -> Option<Arc<Tail>> {
        self.logs.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(task).cloned()
    }

    fn get_or_create(&self, task: &TaskId) -> Arc<Tail> {
        if let Some(tail) = self.get(task) {
            return tail;
        }
        let mut logs = self.logs.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if logs.len() > self.left.load(Ordering::Relaxed) + UNWATCHED {
            self.drop_unwatched(&mut logs);
        }
        logs.entry(task.clone()).or_insert_with(|| Arc::new(Tail::unknown())).clone()
    }

    fn drop_unwatched(&self, logs: &mut HashMap<TaskId, Arc<Tail>>) {
        self.removals.fetch_add(1, Ordering::Release);
        logs.retain(|_, tail| {
            let watched = tail.is_watched();
            if !watched {
                self.held.fetch_sub(tail.shrink(), Ordering::Relaxed);
            }
            watched
        });
        self.left.store(logs.len(), Ordering::Relaxed);
    }

    /// Lets the bytes of those go that have been silent for longest, until a quarter of the room is free.
    fn shrink(&self) {
        let logs = self.logs.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut oldest: Vec<_> = logs.values().map(|tail| (tail.touched(), tail)).collect();
        oldest.sort_unstable_by_key(|(touched, _)| *touched);
        for (_, tail) in oldest {
            let bytes = tail.shrink();
            if self.held.fetch_sub(bytes, Ordering::Relaxed) - bytes <= BYTES / 4 * 3 {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grow(tails: &Tails, task: &str, seq: Seq, size: usize) {
        let segment = Segment { first: seq, last: seq, bytes: vec![b'x'; size].into() };
        tails.grew(task.into(), segment, LogEnd::Open);
    }

    #[test]
    fn all_tails_together_stay_within_their_bytes() {
        let tails = Tails::default();
        let size = 100 * 1024;
        for n in 0..2000 {
            grow(&tails, &format!("log-{n}"), 1, size);
            assert!(tails.held.load(Ordering::Relaxed) <= BYTES);
        }
        assert!(tails.read(&"log-1999".into(), 0, size).is_some());
        assert!(tails.read(&"log-0".into(), 0, size).is_none());
    }

    #[test]
    fn logs_nobody_watches_make_room_for_others() {
        let tails = Tails::default();
        let _watching = tails.watch(&"watched".into());
        for n in 0..3 * UNWATCHED {
            tails.opened(&format!("log-{n}").as_str().into());
        }
        assert!(tails.logs.read().expect("not poisoned").len() <= UNWATCHED + 2);
        assert!(tails.get(&"watched".into()).is_some());
    }

    #[test]
    fn what_was_read_before_a_removal_is_not_learnt_after_it() {
        let tails = Tails::default();
        let task: TaskId = "log".into();
        let before = tails.removals();
        tails.forget(std::slice::from_ref(&task));
        let _watching = tails.watch(&task);
        tails.learn(&task, before, 5, LogEnd::Open);
        assert!(tails.read(&task, 5, 1000).is_none());
        tails.learn(&task, tails.removals(), 5, LogEnd::Open);
        assert!(tails.read(&task, 5, 1000).is_some());
    }
}
