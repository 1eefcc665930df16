//! Whether the store can be reached, as the sweeper found when it last asked. While it cannot, the workers of this
//! process leave the queue alone: a delivery that they cannot act on is one that another process could.

use ports::{PortError, PortResult};
use tokio::sync::watch;

#[derive(Default)]
pub(crate) struct Reach {
    store: watch::Sender<Store>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Store {
    /// Until somebody finds out otherwise.
    #[default]
    There,
    Away,
}

impl Reach {
    /// What became of a question to the store.
    pub(crate) fn learn<T>(&self, answer: &PortResult<T>) {
        let found = match answer {
            Err(PortError::Unavailable(_)) => Store::Away,
            _ => Store::There,
        };
        self.store.send_if_modified(|known| std::mem::replace(known, found) != found);
    }

    /// Returns when the store is away.
    pub(crate) async fn lost(&self) {
        self.until(Store::Away).await;
    }

    /// Returns when the store is there.
    pub(crate) async fn found(&self) {
        self.until(Store::There).await;
    }

    async fn until(&self, wanted: Store) {
        // The sender is ours, so it is never closed.
        let _ = self.store.subscribe().wait_for(|store| *store == wanted).await;
    }
}
