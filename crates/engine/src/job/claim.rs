//! Claims a job, and refuses to run one that was stopped or has crashed too many workers.

use std::time::Duration;

use ports::leases::JobClaimed;
use ports::{PortError, PortResult};
use protocol::limits::CRASHED_ATTEMPTS;
use protocol::turn::FailureCode;
use protocol::{Job, WorkerId};
use tokio::time::Instant;

use super::halt::{JobFailure, JobHalt};
use super::stop::StopCause;
use crate::EngineInner;

/// Delay after the queue or the store failed.
pub(crate) const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Attempts to claim a job before its delivery goes to the back of the queue.
const CLAIM_TRIES: u32 = 3;

/// A request for the claim of a job, repeated until it is answered.
pub(crate) struct ClaimRequest {
    pub(crate) job: Job,
    worker: WorkerId,
    /// The lease counts from then, however often the request was repeated.
    pub(crate) requested_at: Instant,
}

impl ClaimRequest {
    pub(crate) fn new(inner: &EngineInner, job: Job) -> Self {
        // A worker id used for this claim only: the previous turn of this worker may still be claimed and wait for
        // something, and a repeated delivery of it must not look like a repeated claim.
        let worker = WorkerId::of(&inner.options.process);
        Self { job, worker, requested_at: Instant::now() }
    }

    pub(crate) async fn send(&self, inner: &EngineInner) -> PortResult<JobClaimed> {
        inner.ports.leases.claim(&self.job, &self.worker, inner.options.lease).await
    }

    /// A claim whose answer was lost may have been made; the same worker id gets it by asking again.
    pub(crate) async fn send_with_retry(&self, inner: &EngineInner) -> PortResult<JobClaimed> {
        let mut tries = 1;
        loop {
            match self.send(inner).await {
                Err(PortError::Unavailable(reason))
                    if tries < CLAIM_TRIES && !inner.shutdown_signal.is_stopping() =>
                {
                    tries += 1;
                    tracing::warn!(job = %self.job, reason, "a claim had no answer; retrying");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                answered => return answered,
            }
        }
    }
}

/// Refuses a job whose stop was requested before it started or that has crashed too many workers.
pub(crate) fn check_runnable<F: JobFailure>(
    stop_requested: bool,
    attempt: u32,
) -> Result<(), JobHalt<F>> {
    if stop_requested {
        return Err(JobHalt::Stop(StopCause::Cancelled));
    }
    if attempt > CRASHED_ATTEMPTS {
        let message = format!("The server stopped {CRASHED_ATTEMPTS} times while running this.");
        return Err(JobHalt::Fail(F::from_code(FailureCode::CrashLoop, message)));
    }
    Ok(())
}
