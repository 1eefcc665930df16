//! Which rows of the queue somebody is working on, and which are put off. Only in memory: after a
//! restart nobody holds anything, and everything that is unsettled comes back.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

#[derive(Default)]
pub(super) struct Hands {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    taken: HashSet<i64>,
    put_off: HashMap<i64, Instant>,
}

impl Hands {
    /// Takes the row, unless it is in somebody's hands or put off.
    pub(super) fn take(&self, row: i64) -> bool {
        let mut inner = self.inner();
        if inner.put_off.get(&row).is_some_and(|until| *until > Instant::now()) {
            return false;
        }
        inner.put_off.remove(&row);
        inner.taken.insert(row)
    }

    pub(super) fn holds(&self, row: i64) -> bool {
        self.inner().taken.contains(&row)
    }

    pub(super) fn put_down(&self, row: i64) {
        self.inner().taken.remove(&row);
    }

    pub(super) fn put_off(&self, row: i64, until: Instant) {
        self.inner().put_off.insert(row, until);
    }

    /// When the next row that was put off is ready. Those that are ready now need no entry any more.
    pub(super) fn next_ready(&self) -> Option<Instant> {
        let mut inner = self.inner();
        let now = Instant::now();
        inner.put_off.retain(|_, until| *until > now);
        inner.put_off.values().min().copied()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
