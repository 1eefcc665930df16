//! Notifications between the parts of the program. A bus may lose everything: waiters also poll the store on a timer, so a
//! lost notification only costs latency.

use protocol::{ExecutionId, Job};
use tokio::sync::broadcast;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusSignal {
    /// A stop of this job was requested; the request is in its row.
    Cancel(Job),
    /// This job has a final status.
    Ended(Job),
    /// The row or the journal of this execution has changed.
    Moved(ExecutionId),
}

pub trait Bus: Send + Sync {
    /// Never waits and never fails.
    fn publish(&self, signal: BusSignal);

    /// Signals published from now on. A receiver that lags loses the oldest ones.
    fn subscribe(&self) -> broadcast::Receiver<BusSignal>;
}
