//! Leaving without losing anything: stop claiming, let turns come to a safe point, hand the rest back.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::turn::registry::StopCause;

/// Kept for handing turns back and for the caller to close the store.
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

    /// Turns that run in this process now.
    pub fn active(&self) -> usize {
        self.inner.registry.len()
    }

    /// Returns when every turn has ended or was handed back, at the latest after `options.shutdown`. A turn that
    /// is between two steps goes back at once; one in the middle of a step has until shortly before the end.
    pub async fn shutdown(&self) {
        let inner = &self.inner;
        inner.shutdown_signal.stopping.cancel();
        let grace = inner.options.shutdown.saturating_sub(HAND_BACK_TIME);
        if tokio::time::timeout(grace, inner.registry.wait_empty()).await.is_err() {
            inner.registry.stop_all(StopCause::Shutdown);
        }
        if tokio::time::timeout(HAND_BACK_TIME / 2, inner.tasks.wait_all()).await.is_err() {
            // Their leases run out and another process goes on with them.
            tracing::warn!(turns = self.active(), "shutdown does not wait any longer for turns");
        }
    }
}
