//! How many runs this process works on at the same time. A run that only waits for others lends its slot, so that those
//! it waits for can run here.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) struct Slots {
    all: Arc<Semaphore>,
    mine: Option<OwnedSemaphorePermit>,
}

impl Slots {
    /// `None`: all are taken.
    pub(crate) fn try_take(all: &Arc<Semaphore>) -> Option<Self> {
        let mine = all.clone().try_acquire_owned().ok()?;
        Some(Self { all: all.clone(), mine: Some(mine) })
    }

    pub(super) fn lend(&mut self) {
        self.mine = None;
    }

    /// Those that come back are served before new ones, which do not wait in line.
    pub(super) async fn take_back(&mut self) {
        if self.mine.is_none() {
            // The semaphore is never closed.
            self.mine = self.all.clone().acquire_owned().await.ok();
        }
    }
}
