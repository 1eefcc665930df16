//! A queue in memory whose readers wait for the next item.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

pub(crate) struct WakeQueue<T> {
    items: Mutex<VecDeque<T>>,
    added: Notify,
}

impl<T> Default for WakeQueue<T> {
    fn default() -> Self {
        Self { items: Mutex::default(), added: Notify::new() }
    }
}

impl<T> WakeQueue<T> {
    /// Adds the item if the queue accepts it in its current state.
    pub(crate) fn push_if(&self, item: T, accepts: impl FnOnce(&VecDeque<T>, &T) -> bool) {
        let mut items = self.items();
        if accepts(&items, &item) {
            items.push_back(item);
            self.added.notify_one();
        }
    }

    /// Waits for the oldest item. Cancel-safe.
    pub(crate) async fn next(&self) -> T {
        loop {
            if let Some(item) = self.take() {
                return item;
            }
            self.added.notified().await;
        }
    }

    fn take(&self) -> Option<T> {
        let mut items = self.items();
        let item = items.pop_front();
        if !items.is_empty() {
            // One notification may stand for several added items.
            self.added.notify_one();
        }
        item
    }

    fn items(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.items.lock().expect("no code panics while it holds this lock")
    }
}
