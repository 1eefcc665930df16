//! Whether the store was reachable at the sweeper's last call. While it is not, the workers of this process take
//! nothing from the queue: another process may be able to handle the deliveries.

use ports::{PortError, PortResult};
use tokio::sync::watch;

#[derive(Default)]
pub(crate) struct StoreHealth {
    store: watch::Sender<StoreState>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StoreState {
    /// Assumed until a call fails.
    #[default]
    Available,
    Unavailable,
}

impl StoreHealth {
    /// Records the outcome of a store call.
    pub(crate) fn record<T>(&self, answer: &PortResult<T>) {
        let found = match answer {
            Err(PortError::Unavailable(_)) => StoreState::Unavailable,
            _ => StoreState::Available,
        };
        self.store.send_if_modified(|known| std::mem::replace(known, found) != found);
    }

    /// Returns when the store is unavailable.
    pub(crate) async fn unavailable(&self) {
        self.wait_until(StoreState::Unavailable).await;
    }

    /// Returns when the store is available.
    pub(crate) async fn available(&self) {
        self.wait_until(StoreState::Available).await;
    }

    async fn wait_until(&self, wanted: StoreState) {
        // `self` owns the sender, so the channel is never closed.
        let _ = self.store.subscribe().wait_for(|store| *store == wanted).await;
    }
}
