//! Shutdown without losing work: stop claiming, let turns reach a safe point, hand the rest back.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::job::stop::StopCause;

/// Reserved for handing turns back and for the caller to close the store.
const HAND_BACK_TIME: Duration = Duration::from_secs(3);

#[derive(Clone, Default)]
pub(crate) struct ShutdownSignal {
    stopping: CancellationToken,
}

impl ShutdownSignal {
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    pub(crate) async fn stopping(&self) {
        self.stopping.cancelled().await;
    }
}

impl Engine {
    pub fn is_shutting_down(&self) -> bool {
        self.inner.shutdown_signal.is_stopping()
    }

    /// How many turns and executions run in this process.
    pub fn active(&self) -> usize {
        self.inner.registry.len()
    }

    /// Returns when every turn has ended or was handed back, at the latest after `options.shutdown`. A turn between two
    /// steps is handed back at once; a turn within a step may run until shortly before the deadline.
    pub async fn shutdown(&self) {
        let inner = &self.inner;
        inner.shutdown_signal.stopping.cancel();
        let grace = inner.options.shutdown.saturating_sub(HAND_BACK_TIME);
        if tokio::time::timeout(grace, inner.registry.wait_empty()).await.is_err() {
            inner.registry.stop_all(StopCause::Shutdown);
        }
        if tokio::time::timeout(HAND_BACK_TIME / 2, inner.tasks.wait_all()).await.is_err() {
            // Their leases expire and another process continues them.
            tracing::warn!(turns = self.active(), "shutdown stops waiting for turns");
        }
    }
}
