//! Hints between the parts of the program. A bus may lose everything: whoever waits for a hint also
//! looks at what is stored, on a timer, so that only latency suffers.

use protocol::{ExecutionId, Job};
use tokio::sync::broadcast;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusSignal {
    /// Somebody asked for this job to stop; the fact is in its row.
    Cancel(Job),
    /// This job has a final status.
    Ended(Job),
    /// The row or the journal of this run has changed.
    Moved(ExecutionId),
}

pub trait Bus: Send + Sync {
    /// Never waits and never fails.
    fn publish(&self, signal: BusSignal);

    /// Signals published from now on. A receiver that lags loses the oldest.
    fn subscribe(&self) -> broadcast::Receiver<BusSignal>;
}
