//! The permits of a running turn: its worker and its concurrency permit. A turn that only waits on other work releases
//! both, and reacquires both before it continues.

use std::sync::Arc;
use std::time::Duration;

use super::leased_turn::LeasedTurn;
use crate::job::halt::TurnHalt;
use crate::job::retry::retry_fenced;
use crate::job::worker_permit::WorkerPermit;

/// How often a turn without a concurrency permit tries to get one when no hint arrives.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) struct TurnPermits {
    leased: Arc<LeasedTurn>,
    /// `None` while the turn only waits.
    worker: Option<WorkerPermit>,
    /// Whether the turn has released its concurrency permit.
    yielded: bool,
}

impl TurnPermits {
    pub(crate) fn new(leased: Arc<LeasedTurn>, worker: Option<WorkerPermit>) -> Self {
        Self { yielded: leased.turn.aside, leased, worker }
    }

    pub(crate) fn have_yielded(&self) -> bool {
        self.yielded
    }

    /// The turn keeps its claim; only its worker and its concurrency permit are released.
    pub(crate) async fn yield_both(&mut self) -> Result<(), TurnHalt> {
        let LeasedTurn { inner, claim, stop, .. } = &*self.leased;
        let due = retry_fenced(stop, || inner.ports.turns.step_aside(claim)).await?;
        self.yielded = true;
        self.worker = None;
        inner.push_turns(&due).await;
        Ok(())
    }

    /// Gets the concurrency permit first: without it the turn could not use a worker.
    pub(crate) async fn reacquire(&mut self) -> Result<(), TurnHalt> {
        if !self.yielded {
            return Ok(());
        }
        let LeasedTurn { inner, claim, stop, .. } = &*self.leased;
        // Subscribe before asking, so that an end in between is not missed.
        let mut signals = inner.ports.bus.subscribe();
        while !retry_fenced(stop, || inner.ports.turns.step_back(claim)).await? {
            // The turn that holds the concurrency permit may need this worker.
            self.worker = None;
            tokio::select! {
                biased;
                cause = stop.stopped() => return Err(cause.into()),
                _ = tokio::time::timeout(POLL_INTERVAL, signals.recv()) => {}
            }
        }
        if self.worker.is_none() {
            self.worker = Some(tokio::select! {
                biased;
                cause = stop.stopped() => return Err(cause.into()),
                permit = inner.permit_queue.acquire() => permit,
            });
        }
        self.yielded = false;
        Ok(())
    }

    pub(crate) fn into_worker(self) -> Option<WorkerPermit> {
        self.worker
    }
}
