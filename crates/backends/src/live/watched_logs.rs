//! Cached tails of stream logs that other processes write to as well. Only watched logs are cached, because only for
//! those does this process receive notifications and ask the store, on a timer, whether any were lost.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use tokio::sync::{Notify, watch};

use super::LogEnd;
use super::log_tails::{LogTails, PendingRead, TailLookup};
use crate::log_feed::LogPosition;

/// Consecutive sweeps without a watcher after which a log is evicted. A client that reconnects soon still finds it.
const UNWATCHED_SWEEPS: u32 = 10;

#[derive(Default)]
pub(crate) struct WatchedLogs {
    tails: LogTails,
    /// Logs added or removed since `take_changes`.
    changed: Mutex<HashSet<TaskId>>,
    change: Notify,
    store_unreachable: AtomicBool,
}

/// Subscriptions to change, so that this process receives notifications of exactly the logs it watches.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchChanges {
    pub(crate) added: Vec<TaskId>,
    pub(crate) removed: Vec<TaskId>,
}

impl WatchedLogs {
    pub(crate) fn watch(&self, task: &TaskId) -> watch::Receiver<Seq> {
        let (receiver, found) = self.tails.watch_entry(task);
        if found == TailLookup::New {
            self.note_change(task.clone());
        }
        receiver
    }

    pub(crate) fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> Option<LogRead> {
        self.tails.read(task, after, max_bytes)
    }

    pub(crate) fn begin_read(&self, task: &TaskId) -> PendingRead {
        self.tails.begin_read(task)
    }

    /// A committed segment from any process, possibly late or repeated.
    pub(crate) fn receive(&self, task: &TaskId, segment: Segment, end: LogEnd) {
        self.tails.grew_if_cached(task, segment, end);
    }

    /// Invalidates the cache of this log and wakes its watchers.
    pub(crate) fn invalidate(&self, task: &TaskId) {
        if let Some(tail) = self.tails.get(task) {
            self.tails.free_bytes(tail.invalidate());
        }
    }

    /// Applies the store's `answers` about the logs in `asked`. A log without an answer no longer exists.
    pub(crate) fn checked(&self, asked: &[TaskId], answers: &[LogPosition]) {
        for at in answers {
            if let Some(tail) = self.tails.get(&at.task) {
                self.tails.free_bytes(tail.check(at.last, at.end));
            }
        }
        if answers.len() == asked.len() {
            return;
        }
        let there: HashSet<&TaskId> = answers.iter().map(|at| &at.task).collect();
        for task in asked.iter().filter(|task| !there.contains(task)) {
            if let Some(tail) = self.tails.get(task).filter(|tail| tail.knows_end()) {
                self.tails.free_bytes(tail.invalidate());
            }
        }
    }

    /// Records whether the store replied to the last check. While it does not, silence about a log means nothing.
    pub(crate) fn note_store(&self, answered: bool) {
        self.store_unreachable.store(!answered, Ordering::Relaxed);
    }

    pub(crate) fn store_unreachable(&self) -> bool {
        self.store_unreachable.load(Ordering::Relaxed)
    }

    /// Logs without an update since the last call, whose end the store has to be asked for.
    pub(crate) fn without_update(&self) -> Vec<TaskId> {
        let logs = self.tails.read_lock();
        logs.iter().filter(|(_, tail)| tail.needs_check()).map(|(task, _)| task.clone()).collect()
    }

    /// Evicts logs that have had no watcher for a while. Call at regular intervals.
    pub(crate) fn sweep(&self) {
        let mut idle: Vec<TaskId> = Vec::new();
        for (task, tail) in self.tails.read_lock().iter() {
            if tail.note_watchers() >= UNWATCHED_SWEEPS {
                idle.push(task.clone());
            }
        }
        if idle.is_empty() {
            return;
        }
        let mut logs = self.tails.write();
        for task in idle {
            if logs.get(&task).is_some_and(|tail| !tail.is_watched())
                && let Some(tail) = logs.remove(&task)
            {
                self.tails.free_bytes(tail.invalidate());
                self.note_change(task);
            }
        }
    }

    /// Waits until logs were added or removed.
    pub(crate) async fn change(&self) {
        self.change.notified().await;
    }

    /// Whether each was added or removed is determined now, so the order of the changes does not matter.
    pub(crate) fn take_changes(&self) -> WatchChanges {
        let changed = std::mem::take(&mut *self.changed());
        let logs = self.tails.read_lock();
        let (added, removed) = changed.into_iter().partition(|task| logs.contains_key(task));
        WatchChanges { added, removed }
    }

    /// All watched logs, for a new connection: it includes earlier changes.
    pub(crate) fn take_all(&self) -> Vec<TaskId> {
        self.changed().clear();
        self.tails.read_lock().keys().cloned().collect()
    }

    fn note_change(&self, task: TaskId) {
        self.changed().insert(task);
        self.change.notify_one();
    }

    fn changed(&self) -> std::sync::MutexGuard<'_, HashSet<TaskId>> {
        self.changed.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: Seq, last: Seq) -> Segment {
        Segment { first, last, bytes: vec![b'x'; 10].into() }
    }

    #[test]
    fn an_unwatched_log_is_evicted_and_reported() {
        let watched = WatchedLogs::default();
        let (a, b): (TaskId, TaskId) = ("a".into(), "b".into());
        let watching = watched.watch(&a);
        let _staying = watched.watch(&b);
        watched.take_changes();
        drop(watching);
        for _ in 1..UNWATCHED_SWEEPS {
            watched.sweep();
        }
        assert_eq!(watched.take_changes(), WatchChanges::default(), "a watcher may return");
        watched.sweep();
        assert_eq!(
            watched.take_changes(),
            WatchChanges { added: vec![], removed: vec![a.clone()] }
        );
        watched.receive(&a, segment(1, 1), LogEnd::Open);
        assert_eq!(watched.read(&a, 0, 1000), None, "an unwatched log is not cached");
        assert_eq!(watched.take_all(), [b]);
    }

    #[test]
    fn a_log_deleted_from_the_store_is_invalidated() {
        let watched = WatchedLogs::default();
        let task: TaskId = "a".into();
        let mut watching = watched.watch(&task);
        watched.checked(std::slice::from_ref(&task), &[]);
        assert!(!watching.has_changed().expect("open"), "it never existed");
        watched.receive(&task, segment(1, 1), LogEnd::Open);
        watching.mark_unchanged();
        watched.checked(std::slice::from_ref(&task), &[]);
        assert!(watching.has_changed().expect("open"));
        assert_eq!(watched.read(&task, 1, 1000), None);
    }
}
