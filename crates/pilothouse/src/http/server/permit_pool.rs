//! Limits the number of connections and streams, in total and per caller. Each one holds a permit that is returned
//! when it is dropped.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// A total limit and a limit per key.
pub(crate) struct PermitPool<K> {
    total: usize,
    per_key: usize,
    counts: Mutex<PermitCounts<K>>,
}

struct PermitCounts<K> {
    all: usize,
    by_key: HashMap<K, usize>,
}

/// One counted connection or stream.
pub(crate) struct PooledPermit<K: Eq + Hash> {
    caps: Arc<PermitPool<K>>,
    key: Option<K>,
}

impl<K: Eq + Hash + Clone> PermitPool<K> {
    pub(crate) fn new(total: usize, per_key: usize) -> Arc<Self> {
        let counts = Mutex::new(PermitCounts { all: 0, by_key: HashMap::new() });
        Arc::new(Self { total, per_key, counts })
    }

    /// `None` when a limit is reached.
    pub(crate) fn admit(self: &Arc<Self>, key: K) -> Option<PooledPermit<K>> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.all >= self.total || counts.by_key.get(&key).is_some_and(|n| *n >= self.per_key) {
            return None;
        }
        counts.all += 1;
        *counts.by_key.entry(key.clone()).or_default() += 1;
        Some(PooledPermit { caps: Arc::clone(self), key: Some(key) })
    }

    pub(crate) fn count(&self) -> usize {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl<K: Eq + Hash> Drop for PooledPermit<K> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        let mut counts = self.caps.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        if let Some(count) = counts.by_key.get_mut(&key) {
            *count -= 1;
            // Remove keys without permits, so that memory does not grow with every caller ever seen.
            if *count == 0 {
                counts.by_key.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_limited_in_total_and_per_key_and_returned_on_drop() {
        let caps = PermitPool::new(3, 2);
        let first = caps.admit("a").expect("the first");
        let _second = caps.admit("a").expect("the second");
        assert!(caps.admit("a").is_none(), "one key has two");
        let _third = caps.admit("b").expect("another key");
        assert!(caps.admit("c").is_none(), "three in total");
        drop(first);
        assert_eq!(caps.count(), 2);
        assert!(caps.admit("a").is_some());
    }
}
