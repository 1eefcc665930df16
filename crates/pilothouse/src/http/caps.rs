//! How many connections and streams there may be, in all and for one caller. What is counted is a permit
//! that counts itself out when it is dropped.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts per key and in all.
pub(crate) struct Caps<K> {
    total: usize,
    per_key: usize,
    counts: Mutex<Counts<K>>,
}

struct Counts<K> {
    all: usize,
    by_key: HashMap<K, usize>,
}

/// One of what is counted, for as long as it lives.
pub(crate) struct Permit<K: Eq + Hash> {
    caps: Arc<Caps<K>>,
    key: Option<K>,
}

impl<K: Eq + Hash + Clone> Caps<K> {
    pub(crate) fn new(total: usize, per_key: usize) -> Arc<Self> {
        let counts = Mutex::new(Counts { all: 0, by_key: HashMap::new() });
        Arc::new(Self { total, per_key, counts })
    }

    /// `None` when there are enough already.
    pub(crate) fn admit(self: &Arc<Self>, key: K) -> Option<Permit<K>> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.all >= self.total || counts.by_key.get(&key).is_some_and(|n| *n >= self.per_key) {
            return None;
        }
        counts.all += 1;
        *counts.by_key.entry(key.clone()).or_default() += 1;
        Some(Permit { caps: Arc::clone(self), key: Some(key) })
    }

    pub(crate) fn count(&self) -> usize {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl<K: Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        let mut counts = self.caps.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        if let Some(count) = counts.by_key.get_mut(&key) {
            *count -= 1;
            // A key without connections must not stay in memory for ever.
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
    fn permits_are_limited_in_all_and_per_key_and_come_back() {
        let caps = Caps::new(3, 2);
        let first = caps.admit("a").expect("the first");
        let _second = caps.admit("a").expect("the second");
        assert!(caps.admit("a").is_none(), "one key has two");
        let _third = caps.admit("b").expect("another key");
        assert!(caps.admit("c").is_none(), "there are three in all");
        drop(first);
        assert_eq!(caps.count(), 2);
        assert!(caps.admit("a").is_some());
    }
}
