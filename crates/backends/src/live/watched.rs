//! Tails of logs that other processes write to as well. Only a log that somebody here watches has one, because only of
//! those this process is told the news and asks the store, on a timer, whether any were lost.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use tokio::sync::{Notify, watch};

use super::LogEnd;
use super::tails::{Found, Look, Tails};
use crate::feed::LogAt;

/// Looks in a row without a watcher after which a tail goes. A client that reconnects finds it still there.
const LINGER: u32 = 10;

#[derive(Default)]
pub(crate) struct Watched {
    tails: Tails,
    /// Logs that came or went since `take_changes`.
    changed: Mutex<HashSet<TaskId>>,
    change: Notify,
    store_is_away: AtomicBool,
}

/// What has to be done so that this process hears of what it watches and of nothing else.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) came: Vec<TaskId>,
    pub(crate) went: Vec<TaskId>,
}

impl Watched {
    pub(crate) fn watch(&self, task: &TaskId) -> watch::Receiver<Seq> {
        let (receiver, found) = self.tails.watch_it(task);
        if found == Found::New {
            self.note_change(task.clone());
        }
        receiver
    }

    pub(crate) fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> Option<LogRead> {
        self.tails.read(task, after, max_bytes)
    }

    pub(crate) fn look(&self, task: &TaskId) -> Look {
        self.tails.look(task)
    }

    /// A committed segment, from this process or from another, perhaps late and perhaps for the second time.
    pub(crate) fn heard(&self, task: &TaskId, segment: Segment, end: LogEnd) {
        self.tails.grew_if_there(task, segment, end);
    }

    /// Something is wrong with what is known of this log, so its watchers look again.
    pub(crate) fn doubt(&self, task: &TaskId) {
        if let Some(tail) = self.tails.get(task) {
            self.tails.let_go(tail.doubt());
        }
    }

    /// What `answers` say of the logs that were `asked` about. A log that is not among them is not there any more.
    pub(crate) fn checked(&self, asked: &[TaskId], answers: &[LogAt]) {
        for at in answers {
            if let Some(tail) = self.tails.get(&at.task) {
                self.tails.let_go(tail.check(at.last, at.end));
            }
        }
        if answers.len() == asked.len() {
            return;
        }
        let there: HashSet<&TaskId> = answers.iter().map(|at| &at.task).collect();
        for task in asked.iter().filter(|task| !there.contains(task)) {
            if let Some(tail) = self.tails.get(task).filter(|tail| tail.knows_its_end()) {
                self.tails.let_go(tail.doubt());
            }
        }
    }

    /// Whether the store answered when it was last asked. While it does not, that nothing is heard says nothing.
    pub(crate) fn note_store(&self, answered: bool) {
        self.store_is_away.store(!answered, Ordering::Relaxed);
    }

    pub(crate) fn store_is_away(&self) -> bool {
        self.store_is_away.load(Ordering::Relaxed)
    }

    /// The logs whose end the store has to be asked for, because nothing was heard of them since the last call.
    pub(crate) fn quiet(&self) -> Vec<TaskId> {
        let logs = self.tails.read_lock();
        logs.iter().filter(|(_, tail)| tail.wants_check()).map(|(task, _)| task.clone()).collect()
    }

    /// Lets go of logs that nobody has watched for a while. To be called at regular intervals.
    pub(crate) fn sweep(&self) {
        let mut idle: Vec<TaskId> = Vec::new();
        for (task, tail) in self.tails.read_lock().iter() {
            if tail.note_watchers() >= LINGER {
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
                self.tails.let_go(tail.doubt());
                self.note_change(task);
            }
        }
    }

    /// Waits until logs came or went.
    pub(crate) async fn change(&self) {
        self.change.notified().await;
    }

    /// Whether each came or went is judged now, so it does not matter in which order that was noted.
    pub(crate) fn take_changes(&self) -> Changes {
        let changed = std::mem::take(&mut *self.changed());
        let logs = self.tails.read_lock();
        let (came, went) = changed.into_iter().partition(|task| logs.contains_key(task));
        Changes { came, went }
    }

    /// All that is watched, for a beginning from nothing: earlier changes are contained in it.
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
    fn what_nobody_watches_is_let_go_and_said() {
        let watched = Watched::default();
        let (a, b): (TaskId, TaskId) = ("a".into(), "b".into());
        let watching = watched.watch(&a);
        let _staying = watched.watch(&b);
        watched.take_changes();
        drop(watching);
        for _ in 1..LINGER {
            watched.sweep();
        }
        assert_eq!(watched.take_changes(), Changes::default(), "it may come back");
        watched.sweep();
        assert_eq!(watched.take_changes(), Changes { came: vec![], went: vec![a.clone()] });
        watched.heard(&a, segment(1, 1), LogEnd::Open);
        assert_eq!(watched.read(&a, 0, 1000), None, "of what is not watched nothing is kept");
        assert_eq!(watched.take_all(), [b]);
    }

    #[test]
    fn a_log_that_is_gone_from_the_store_is_doubted() {
        let watched = Watched::default();
        let task: TaskId = "a".into();
        let mut watching = watched.watch(&task);
        watched.checked(std::slice::from_ref(&task), &[]);
        assert!(!watching.has_changed().expect("open"), "it was never there");
        watched.heard(&task, segment(1, 1), LogEnd::Open);
        watching.mark_unchanged();
        watched.checked(std::slice::from_ref(&task), &[]);
        assert!(watching.has_changed().expect("open"));
        assert_eq!(watched.read(&task, 1, 1000), None);
    }
}
