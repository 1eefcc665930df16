//! The tails of all logs that are written or watched, bounded in number and in bytes. A cache: every
//! entry may vanish at any time, and readers then look in the database.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ports::stream_log::LogRead;
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
    /// When the number of logs was last brought down, the number that were left.
    left: AtomicUsize,
}

impl Tails {
    pub(crate) fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> Option<LogRead> {
        self.get(task)?.read(after, max_bytes)
    }

    pub(crate) fn watch(&self, task: &TaskId) -> watch::Receiver<Seq> {
        self.watch_it(task).0
    }

    /// To be taken before a look at the database, and told what it said.
    pub(crate) fn look(&self, task: &TaskId) -> Look {
        Look(self.get(task).map(|tail| {
            let doubts = tail.doubts();
            (tail, doubts)
        }))
    }

    pub(crate) fn opened(&self, task: &TaskId) {
        let tail = self.get_or_create(task);
        tail.learn(tail.doubts(), 0, LogEnd::Open);
    }

    pub(crate) fn grew(&self, task: TaskId, segment: Segment, end: LogEnd) {
        let tail = self.get_or_create(&task);
        if self.grow(&tail, segment, end) == Room::Exceeded {
            self.shrink();
        }
    }

    /// Only if there is a tail of this log. Under the lock, so that what it holds is not counted after its removal.
    pub(super) fn grew_if_there(&self, task: &TaskId, segment: Segment, end: LogEnd) {
        let room = match self.read_lock().get(task) {
            Some(tail) => self.grow(tail, segment, end),
            None => Room::Left,
        };
        if room == Room::Exceeded {
            self.shrink();
        }
    }

    pub(crate) fn forget(&self, tasks: &[TaskId]) {
        let mut logs = self.write();
        for tail in tasks.iter().filter_map(|task| logs.remove(task)) {
            self.let_go(tail.doubt());
        }
    }

    /// A receiver, and whether there was no tail of this log before.
    pub(super) fn watch_it(&self, task: &TaskId) -> (watch::Receiver<Seq>, Found) {
        // Subscribed under the lock: a tail that nobody watches may be removed at any other moment.
        if let Some(tail) = self.read_lock().get(task) {
            return (tail.watch(), Found::There);
        }
        match self.write().entry(task.clone()) {
            Entry::Occupied(tail) => (tail.get().watch(), Found::There),
            Entry::Vacant(place) => (place.insert(Arc::new(Tail::unknown())).watch(), Found::New),
        }
    }

    pub(super) fn get(&self, task: &TaskId) -> Option<Arc<Tail>> {
        self.read_lock().get(task).cloned()
    }

    pub(super) fn let_go(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn read_lock(&self) -> RwLockReadGuard<'_, HashMap<TaskId, Arc<Tail>>> {
        self.logs.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, HashMap<TaskId, Arc<Tail>>> {
        self.logs.write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn get_or_create(&self, task: &TaskId) -> Arc<Tail> {
        if let Some(tail) = self.get(task) {
            return tail;
        }
        let mut logs = self.write();
        if logs.len() > self.left.load(Ordering::Relaxed) + UNWATCHED {
            self.drop_unwatched(&mut logs);
        }
        logs.entry(task.clone()).or_insert_with(|| Arc::new(Tail::unknown())).clone()
    }

    fn grow(&self, tail: &Tail, segment: Segment, end: LogEnd) -> Room {
        let step = self.steps.fetch_add(1, Ordering::Relaxed);
        let (before, after) = tail.grow(segment, end, step);
        self.held.fetch_add(after, Ordering::Relaxed);
        let held = self.held.fetch_sub(before, Ordering::Relaxed) - before;
        if held > BYTES { Room::Exceeded } else { Room::Left }
    }

    fn drop_unwatched(&self, logs: &mut HashMap<TaskId, Arc<Tail>>) {
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
        let logs = self.read_lock();
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    Left,
    Exceeded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    There,
    New,
}

/// A look at the database under way. What it finds is learnt unless the tail was doubted or removed meanwhile.
pub(crate) struct Look(Option<(Arc<Tail>, u64)>);

impl Look {
    pub(crate) fn learn(self, last: Seq, end: LogEnd) {
        if let Some((tail, doubts)) = self.0 {
            tail.learn(doubts, last, end);
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
        let before = tails.watch(&task);
        let look = tails.look(&task);
        tails.forget(std::slice::from_ref(&task));
        assert!(before.has_changed().expect("open"), "whoever watches looks again");
        let _watching = tails.watch(&task);
        look.learn(5, LogEnd::Open);
        assert!(tails.read(&task, 5, 1000).is_none());
        tails.look(&task).learn(5, LogEnd::Open);
        assert!(tails.read(&task, 5, 1000).is_some());
    }
}
