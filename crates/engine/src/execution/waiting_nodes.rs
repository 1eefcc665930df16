//! Counts the node runs of an execution that wait for other work, and notifies the scheduler of changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct WaitingNodes {
    count: AtomicUsize,
    change: Arc<Notify>,
}

impl WaitingNodes {
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// The node run counts as waiting until the guard is dropped.
    pub(crate) fn begin_wait(self: &Arc<Self>) -> WaitingNodeGuard {
        self.count.fetch_add(1, Ordering::AcqRel);
        self.notify();
        WaitingNodeGuard(self.clone())
    }

    pub(crate) fn notifier(&self) -> Arc<Notify> {
        self.change.clone()
    }

    pub(crate) fn notify(&self) {
        self.change.notify_one();
    }

    /// Returns when `notify` was called since the last time.
    pub(crate) async fn changed(&self) {
        self.change.notified().await;
    }
}

pub(crate) struct WaitingNodeGuard(Arc<WaitingNodes>);

impl Drop for WaitingNodeGuard {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.notify();
    }
}
