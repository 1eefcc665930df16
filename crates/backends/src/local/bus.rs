//! Hints within one process.

use ports::{Bus, BusSignal};
use tokio::sync::broadcast;

/// A receiver that falls this far behind loses the oldest hints, which is allowed.
const CAPACITY: usize = 1024;

pub(crate) struct LocalBus {
    sender: broadcast::Sender<BusSignal>,
    deaf: bool,
}

impl LocalBus {
    pub(crate) fn new(deaf: bool) -> Self {
        Self { sender: broadcast::Sender::new(CAPACITY), deaf }
    }
}

impl Bus for LocalBus {
    fn publish(&self, signal: BusSignal) {
        if !self.deaf {
            // Without receivers this fails, which is not an error.
            let _ = self.sender.send(signal);
        }
    }

    fn subscribe(&self) -> broadcast::Receiver<BusSignal> {
        self.sender.subscribe()
    }
}
