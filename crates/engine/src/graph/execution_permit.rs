//! How many runs this process works on at the same time. A run that only waits for others lends its slot, so that those
//! it waits for can run here.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) struct ExecutionPermit {
    all: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
}

impl ExecutionPermit {
    /// `None`: all are taken.
    pub(crate) fn try_acquire(all: &Arc<Semaphore>) -> Option<Self> {
        let held = all.clone().try_acquire_owned().ok()?;
        Some(Self { all: all.clone(), held: Some(held) })
    }

    pub(super) fn release(&mut self) {
        self.held = None;
    }

    /// Those that come back are served before new ones, which do not wait in line.
    pub(super) async fn reacquire(&mut self) {
        if self.held.is_none() {
            // The semaphore is never closed.
            self.held = self.all.clone().acquire_owned().await.ok();
        }
    }
}
