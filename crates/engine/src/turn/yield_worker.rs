//! Releases a turn's worker and concurrency permit while it only waits on other work, and reacquires both.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::TurnAttempt;
use super::halt::TurnHalt;
use crate::retry::retry_fenced;

/// How often a turn without a concurrency permit tries to get one when no hint arrives.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

impl TurnAttempt {
    pub(super) fn has_yielded(&self) -> bool {
        self.yielded.load(Ordering::Acquire)
    }

    /// The turn keeps its claim; only its worker and its concurrency permit are released.
    pub(super) async fn yield_worker(&self) -> Result<(), TurnHalt> {
        let due =
            retry_fenced(&self.stop, || self.inner.ports.turns.step_aside(&self.claim)).await?;
        self.yielded.store(true, Ordering::Release);
        drop(self.permit().take());
        self.inner.push_all(&due).await;
        Ok(())
    }

    /// Gets the concurrency permit first: without it the turn could not use a worker.
    pub(super) async fn reacquire_worker(&self) -> Result<(), TurnHalt> {
        if !self.has_yielded() {
            return Ok(());
        }
        // Subscribe before asking, so that an end in between is not missed.
        let mut signals = self.inner.ports.bus.subscribe();
        while !retry_fenced(&self.stop, || self.inner.ports.turns.step_back(&self.claim)).await? {
            // The turn that holds the concurrency permit may need this worker.
            drop(self.permit().take());
            tokio::select! {
                biased;
                reason = self.stop.stopped() => return Err(TurnHalt::Stop(reason)),
                _ = tokio::time::timeout(POLL_INTERVAL, signals.recv()) => {}
            }
        }
        if self.permit().is_none() {
            let permit = tokio::select! {
                biased;
                reason = self.stop.stopped() => return Err(TurnHalt::Stop(reason)),
                permit = self.inner.permit_queue.acquire() => permit,
            };
            *self.permit() = Some(permit);
        }
        self.yielded.store(false, Ordering::Release);
        Ok(())
    }

    fn permit(&self) -> std::sync::MutexGuard<'_, Option<crate::worker_permit::WorkerPermit>> {
        self.permit.lock().expect("no code panics while it holds this lock")
    }
}
