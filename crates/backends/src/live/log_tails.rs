//! Cached tails of all stream logs that are written or watched, bounded in number and in bytes. Every entry may be
//! evicted at any time; readers then use the database.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use tokio::sync::watch;

use super::LogEnd;
use super::log_tail::LogTail;

/// Bytes kept of all logs together.
const BYTES: usize = 64 * 1024 * 1024;
/// Unwatched logs that are kept; each costs a few hundred bytes.
const UNWATCHED: usize = 16 * 1024;

#[derive(Default)]
pub(crate) struct LogTails {
    logs: RwLock<HashMap<TaskId, Arc<LogTail>>>,
    held: AtomicUsize,
    steps: AtomicU64,
    /// Number of logs left after the last eviction.
    left: AtomicUsize,
}

impl LogTails {
    pub(crate) fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> Option<LogRead> {
        self.get(task)?.read(after, max_bytes)
    }

    pub(crate) fn watch(&self, task: &TaskId) -> watch::Receiver<Seq> {
        self.watch_entry(task).0
    }

    /// Taken before a database read, whose result it then stores.
    pub(crate) fn begin_read(&self, task: &TaskId) -> PendingRead {
        PendingRead(self.get(task).map(|tail| {
            let invalidations = tail.invalidations();
            (tail, invalidations)
        }))
    }

    pub(crate) fn opened(&self, task: &TaskId) {
        let tail = self.get_or_create(task);
        tail.set_end(tail.invalidations(), 0, LogEnd::Open);
    }

    pub(crate) fn grew(&self, task: TaskId, segment: Segment, end: LogEnd) {
        let tail = self.get_or_create(&task);
        if self.grow(&tail, segment, end) == ByteBudget::Exceeded {
            self.shrink();
        }
    }

    /// Only if this log is cached. Under the lock, so that its bytes are not counted after its removal.
    pub(crate) fn grew_if_cached(&self, task: &TaskId, segment: Segment, end: LogEnd) {
        let budget = match self.read_lock().get(task) {
            Some(tail) => self.grow(tail, segment, end),
            None => ByteBudget::Within,
        };
        if budget == ByteBudget::Exceeded {
            self.shrink();
        }
    }

    pub(crate) fn remove(&self, tasks: &[TaskId]) {
        let mut logs = self.write();
        for tail in tasks.iter().filter_map(|task| logs.remove(task)) {
            self.free_bytes(tail.invalidate());
        }
    }

    /// A receiver, and whether the log was not cached before.
    pub(crate) fn watch_entry(&self, task: &TaskId) -> (watch::Receiver<Seq>, TailLookup) {
        // Subscribes under the lock: an unwatched entry may be removed at any other time.
        if let Some(tail) = self.read_lock().get(task) {
            return (tail.watch(), TailLookup::Existing);
        }
        match self.write().entry(task.clone()) {
            Entry::Occupied(tail) => (tail.get().watch(), TailLookup::Existing),
            Entry::Vacant(place) => {
                (place.insert(Arc::new(LogTail::unknown())).watch(), TailLookup::New)
            }
        }
    }

    pub(crate) fn get(&self, task: &TaskId) -> Option<Arc<LogTail>> {
        self.read_lock().get(task).cloned()
    }

    pub(crate) fn free_bytes(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn read_lock(&self) -> RwLockReadGuard<'_, HashMap<TaskId, Arc<LogTail>>> {
        self.logs.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, HashMap<TaskId, Arc<LogTail>>> {
        self.logs.write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn get_or_create(&self, task: &TaskId) -> Arc<LogTail> {
        if let Some(tail) = self.get(task) {
            return tail;
        }
        let mut logs = self.write();
        if logs.len() > self.left.load(Ordering::Relaxed) + UNWATCHED {
            self.drop_unwatched(&mut logs);
        }
        logs.entry(task.clone()).or_insert_with(|| Arc::new(LogTail::unknown())).clone()
    }

    fn grow(&self, tail: &LogTail, segment: Segment, end: LogEnd) -> ByteBudget {
        let step = self.steps.fetch_add(1, Ordering::Relaxed);
        let (before, after) = tail.grow(segment, end, step);
        self.held.fetch_add(after, Ordering::Relaxed);
        let held = self.held.fetch_sub(before, Ordering::Relaxed) - before;
        if held > BYTES { ByteBudget::Exceeded } else { ByteBudget::Within }
    }

    fn drop_unwatched(&self, logs: &mut HashMap<TaskId, Arc<LogTail>>) {
        logs.retain(|_, tail| {
            let watched = tail.is_watched();
            if !watched {
                self.held.fetch_sub(tail.shrink(), Ordering::Relaxed);
            }
            watched
        });
        self.left.store(logs.len(), Ordering::Relaxed);
    }

    /// Frees the bytes of the logs that have been idle longest, until a quarter of the limit is free.
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
enum ByteBudget {
    Within,
    Exceeded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TailLookup {
    Existing,
    New,
}

/// A database read in progress. Its result is stored unless the entry was invalidated or removed meanwhile.
pub(crate) struct PendingRead(Option<(Arc<LogTail>, u64)>);

impl PendingRead {
    /// Stores where the log ends, if the read has found it.
    pub(crate) fn store_end(self, read: &LogRead) {
        if let LogRead::Log { last, sealed, .. } = read {
            self.set_end(*last, LogEnd::of(*sealed));
        }
    }

    fn set_end(self, last: Seq, end: LogEnd) {
        if let Some((tail, invalidations)) = self.0 {
            tail.set_end(invalidations, last, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grow(tails: &LogTails, task: &str, seq: Seq, size: usize) {
        let segment = Segment { first: seq, last: seq, bytes: vec![b'x'; size].into() };
        tails.grew(task.into(), segment, LogEnd::Open);
    }

    #[test]
    fn all_tails_together_stay_within_the_byte_limit() {
        let tails = LogTails::default();
        let size = 100 * 1024;
        for n in 0..2000 {
            grow(&tails, &format!("log-{n}"), 1, size);
            assert!(tails.held.load(Ordering::Relaxed) <= BYTES);
        }
        assert!(tails.read(&"log-1999".into(), 0, size).is_some());
        assert!(tails.read(&"log-0".into(), 0, size).is_none());
    }

    #[test]
    fn unwatched_logs_are_evicted() {
        let tails = LogTails::default();
        let _watching = tails.watch(&"watched".into());
        for n in 0..3 * UNWATCHED {
            tails.opened(&format!("log-{n}").as_str().into());
        }
        assert!(tails.logs.read().expect("not poisoned").len() <= UNWATCHED + 2);
        assert!(tails.get(&"watched".into()).is_some());
    }

    #[test]
    fn a_read_from_before_a_removal_is_ignored() {
        let tails = LogTails::default();
        let task: TaskId = "log".into();
        let before = tails.watch(&task);
        let pending = tails.begin_read(&task);
        tails.remove(std::slice::from_ref(&task));
        assert!(before.has_changed().expect("open"), "watchers are woken");
        let _watching = tails.watch(&task);
        pending.set_end(5, LogEnd::Open);
        assert!(tails.read(&task, 5, 1000).is_none());
        tails.begin_read(&task).set_end(5, LogEnd::Open);
        assert!(tails.read(&task, 5, 1000).is_some());
    }
}
