//! The stop signal of a running job: combines a cancel, a lost lease, a shutdown and the time limit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::lease;

const LOCK: &str = "no code panics while it holds this lock";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// The user canceled it.
    Cancelled,
    /// Another worker has the job, or may have it: write nothing more.
    LeaseLost,
    /// The process shuts down: hand the job back.
    Shutdown,
    /// The job reached its time limit.
    OutOfTime,
}

/// The first cause counts.
#[derive(Debug)]
pub(crate) struct StopSignal {
    token: CancellationToken,
    reason: OnceLock<StopCause>,
    /// Until when the lease is certainly valid, even if this process sleeps.
    leased_until: Mutex<Instant>,
    lost: AtomicBool,
    releasing: AtomicBool,
}

impl StopSignal {
    pub(crate) fn new(leased_until: Instant) -> Self {
        Self {
            token: CancellationToken::new(),
            reason: OnceLock::new(),
            leased_until: Mutex::new(leased_until),
            lost: AtomicBool::new(false),
            releasing: AtomicBool::new(false),
        }
    }

    /// The lease was renewed by a request sent at `requested_at`.
    pub(crate) fn lease_renewed(&self, requested_at: Instant, lease: Duration) {
        *self.leased_until.lock().expect(LOCK) = lease::usable_until(requested_at, lease);
    }

    pub(crate) fn leased_until(&self) -> Instant {
        *self.leased_until.lock().expect(LOCK)
    }

    /// Another worker has the job, or may have it. Whatever the first stop cause was, nothing may be written.
    pub(crate) fn mark_lost(&self) {
        self.lost.store(true, Ordering::Release);
        self.stop(StopCause::LeaseLost);
    }

    /// The claim is about to be released, by an end or on purpose: from now on a renewal may find it gone.
    pub(crate) fn begin_release(&self) {
        self.releasing.store(true, Ordering::Release);
    }

    /// The claim was not released: the job continues.
    pub(crate) fn keep_claim(&self) {
        self.releasing.store(false, Ordering::Release);
    }

    pub(crate) fn is_releasing(&self) -> bool {
        self.releasing.load(Ordering::Acquire)
    }

    pub(crate) fn is_lost(&self) -> bool {
        if Instant::now() >= self.leased_until() {
            self.mark_lost();
        }
        self.lost.load(Ordering::Acquire)
    }

    pub(crate) fn stop(&self, reason: StopCause) {
        let _ = self.reason.set(reason);
        self.token.cancel();
    }

    pub(crate) async fn stopped(&self) -> StopCause {
        self.token.cancelled().await;
        self.reason.get().copied().unwrap_or(StopCause::LeaseLost)
    }

    pub(crate) fn cause(&self) -> Option<StopCause> {
        if self.is_lost() {
            return Some(StopCause::LeaseLost);
        }
        self.reason.get().copied()
    }

    /// `Err` if the job has to stop. A process that slept for longer than its lease must not act for the job any more,
    /// so this is checked before every effect.
    pub(crate) fn check(&self) -> Result<(), StopCause> {
        match self.cause() {
            Some(cause) => Err(cause),
            None => Ok(()),
        }
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }
}
