//! Limits how many executions this process runs at the same time. An execution that only waits for others releases its
//! permit, so that the ones it waits for can run here.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) struct ExecutionPermit {
    all: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
}

impl ExecutionPermit {
    pub(crate) fn not_held(all: &Arc<Semaphore>) -> Self {
        Self { all: all.clone(), held: None }
    }

    /// `false` when all permits are in use.
    pub(crate) fn try_acquire(&mut self) -> bool {
        self.held = self.all.clone().try_acquire_owned().ok();
        self.held.is_some()
    }

    pub(crate) fn release(&mut self) {
        self.held = None;
    }

    /// A returning execution waits in the semaphore's queue and goes before new ones, which never wait.
    pub(crate) async fn reacquire(&mut self) {
        if self.held.is_none() {
            // The semaphore is never closed.
            self.held = self.all.clone().acquire_owned().await.ok();
        }
    }
}
