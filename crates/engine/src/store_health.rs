//! Whether the store can be reached, as the sweeper found when it last asked. While it cannot, the workers of this
//! process leave the queue alone: a delivery that they cannot act on is one that another process could.

use ports::{PortError, PortResult};
use tokio::sync::watch;

#[derive(Default)]
pub(crate) struct StoreHealth {
    store: watch::Sender<StoreState>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StoreState {
    /// Until somebody finds out otherwise.
    #[default]
    Available,
    Unavailable,
}

impl StoreHealth {
    /// What became of a question to the store.
    pub(crate) fn record<T>(&self, answer: &PortResult<T>) {
        let found = match answer {
            Err(PortError::Unavailable(_)) => StoreState::Unavailable,
            _ => StoreState::Available,
        };
        self.store.send_if_modified(|known| std::mem::replace(known, found) != found);
    }

    /// Returns when the store is away.
    pub(crate) async fn unavailable(&self) {
        self.wait_until(StoreState::Unavailable).await;
    }

    /// Returns when the store is there.
    pub(crate) async fn available(&self) {
        self.wait_until(StoreState::Available).await;
    }

    async fn wait_until(&self, wanted: StoreState) {
        // The sender is ours, so it is never closed.
        let _ = self.store.subscribe().wait_for(|store| *store == wanted).await;
    }
}
