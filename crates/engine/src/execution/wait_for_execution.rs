//! Waits for an execution: subscribes to the bus, reads the row, and waits for a hint or the next poll.

use std::time::Duration;

use ports::{BusSignal, PortError, PortResult};
use protocol::execution::{Execution, ExecutionStatus};
use protocol::{ExecutionId, Job, UserId};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};

use crate::{Engine, EngineInner};

/// When a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitUntil {
    Ended,
    /// Also when a review has to be decided.
    EndedOrReview,
}

impl WaitUntil {
    fn is_reached(self, status: ExecutionStatus) -> bool {
        status.is_final() || (self == Self::EndedOrReview && status == ExecutionStatus::Review)
    }
}

impl Engine {
    /// Waits until the execution has ended or needs a review, at most `at_most`, and returns its current row. `None` if
    /// the user has no such execution.
    pub async fn wait_for_execution(
        &self,
        user: &UserId,
        id: &ExecutionId,
        at_most: Duration,
    ) -> PortResult<Option<Execution>> {
        let deadline = Some(Instant::now() + at_most);
        wait_for_execution(&self.inner, user, id, deadline, WaitUntil::EndedOrReview).await
    }
}

pub(crate) async fn wait_for_execution(
    inner: &EngineInner,
    user: &UserId,
    id: &ExecutionId,
    deadline: Option<Instant>,
    until: WaitUntil,
) -> PortResult<Option<Execution>> {
    // Subscribe before reading, so that a change in between is not missed.
    let mut signals = inner.ports.bus.subscribe();
    loop {
        let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match inner.ports.executions.get(user, id).await {
            Ok(None) => return Ok(None),
            Ok(Some(execution)) if over || until.is_reached(execution.status) => {
                return Ok(Some(execution));
            }
            Ok(Some(_)) => {}
            // A short store outage does not end the wait.
            Err(PortError::Unavailable(_)) if !over => {}
            Err(error) => return Err(error),
        }
        let poll = Instant::now() + inner.options.poll;
        let next_look = deadline.map_or(poll, |deadline| deadline.min(poll));
        let _ = timeout_at(next_look, signal_about(&mut signals, id)).await;
    }
}

/// Returns when a hint about the execution has arrived, or may have been lost.
pub(crate) async fn signal_about(signals: &mut Receiver<BusSignal>, id: &ExecutionId) {
    loop {
        match signals.recv().await {
            Ok(BusSignal::Moved(moved)) if moved == *id => return,
            Ok(BusSignal::Ended(Job::Execution(ended))) if ended == *id => return,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}
