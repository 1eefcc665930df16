//! How many node runs of a run wait for other work, and how the flow hears that something has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Waiting {
    count: AtomicUsize,
    news: Arc<Notify>,
}

impl Waiting {
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// A node run waits from here on, until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Guard {
        self.count.fetch_add(1, Ordering::AcqRel);
        self.tell();
        Guard(self.clone())
    }

    pub(super) fn notice(&self) -> Arc<Notify> {
        self.news.clone()
    }

    pub(super) fn tell(&self) {
        self.news.notify_one();
    }

    /// Returns when something was told since the last time.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }
}

pub(super) struct Guard(Arc<Waiting>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.tell();
    }
}
