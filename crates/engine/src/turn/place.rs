//! Giving up a turn's worker and its place among those that run while all it does is wait, and taking both again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Attempt;
use super::halt::Halt;
use super::insist::insist_fenced;

/// How often a turn without a place looks for one when no hint comes.
const LOOK: Duration = Duration::from_millis(200);

impl Attempt {
    pub(super) fn is_aside(&self) -> bool {
        self.aside.load(Ordering::Acquire)
    }

    /// The turn stays ours: only its worker and its place go to others.
    pub(super) async fn step_aside(&self) -> Result<(), Halt> {
        let due =
            insist_fenced(&self.stop, || self.inner.ports.turns.step_aside(&self.claim)).await?;
        self.aside.store(true, Ordering::Release);
        drop(self.slot().take());
        self.inner.push_all(&due).await;
        Ok(())
    }

    /// The place first: a worker that is lent to a turn without one could do nothing for it.
    pub(super) async fn step_back(&self) -> Result<(), Halt> {
        if !self.is_aside() {
            return Ok(());
        }
        // Listening before asking: an end in between is not missed.
        let mut signals = self.inner.ports.bus.subscribe();
        while !insist_fenced(&self.stop, || self.inner.ports.turns.step_back(&self.claim)).await? {
            // Whoever has the place may need this worker to get on.
            drop(self.slot().take());
            tokio::select! {
                biased;
                reason = self.stop.stopped() => return Err(Halt::Stop(reason)),
                _ = tokio::time::timeout(LOOK, signals.recv()) => {}
            }
        }
        if self.slot().is_none() {
            let slot = tokio::select! {
                biased;
                reason = self.stop.stopped() => return Err(Halt::Stop(reason)),
                slot = self.inner.returning.ask() => slot,
            };
            *self.slot() = Some(slot);
        }
        self.aside.store(false, Ordering::Release);
        Ok(())
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<crate::slots::Slot>> {
        self.slot.lock().expect("no code panics while it holds this lock")
    }
}
