//! Runs a claimed job in a task of its own: registered, so that it can be stopped, with its lease renewed beside it, and
//! ended even if its attempt panics.

use std::future::Future;
use std::sync::Arc;

use protocol::turn::FailureCode;
use protocol::{Job, JobClaim};
use tracing::{Instrument, Span};

use super::claim::ClaimRequest;
use super::halt::JobFailure;
use super::lease;
use super::stop::StopSignal;
use crate::EngineInner;
use crate::tasks::TaskKind;

/// A job under a lease of this process: what is fixed for the whole claim.
pub(crate) trait LeasedJob: Sized + Send + Sync + 'static {
    /// The error with which the job fails.
    type Failure: JobFailure;
    /// The claim and the row, as the store granted them.
    type Granted: Send + 'static;
    /// The right to run: a worker permit or an execution permit.
    type Permit: Send + 'static;

    fn new(inner: Arc<EngineInner>, granted: Self::Granted, stop: Arc<StopSignal>) -> Self;

    fn claim(&self) -> JobClaim;

    fn span(&self) -> Span;

    /// Returns when the job has ended, was released or handed back, or was taken over by another worker.
    fn run(self: Arc<Self>, permit: Self::Permit) -> impl Future<Output = ()> + Send;

    /// Ends the job as failed. Nothing is left of the attempt that panicked.
    fn fail_after_panic(self: Arc<Self>, error: Self::Failure) -> impl Future<Output = ()> + Send;
}

/// Runs the job in the background. The caller only notices when the permit is returned.
pub(crate) fn spawn_guarded<J: LeasedJob>(
    inner: &Arc<EngineInner>,
    request: ClaimRequest,
    granted: J::Granted,
    permit: J::Permit,
) {
    let work = run_guarded::<J>(inner.clone(), request, granted, permit);
    inner.tasks.spawn(TaskKind::AttemptGuard, work);
}

/// Returns when the job no longer runs here. `request` is what the claim was granted for.
pub(crate) async fn run_guarded<J: LeasedJob>(
    inner: Arc<EngineInner>,
    request: ClaimRequest,
    granted: J::Granted,
    permit: J::Permit,
) {
    let ClaimRequest { job, requested_at, .. } = request;
    let kind = match &job {
        Job::Turn(_) => TaskKind::Turn,
        Job::Execution(_) => TaskKind::Execution,
    };
    let leased_until = lease::usable_until(requested_at, inner.options.lease);
    let registered = inner.registry.register(job.clone(), leased_until);
    let leased = Arc::new(J::new(inner.clone(), granted, registered.stop.clone()));
    let work = {
        let (inner, stop, claim) = (inner.clone(), registered.stop.clone(), leased.claim());
        let run = leased.clone().run(permit);
        async move {
            tokio::select! {
                biased;
                never = lease::keep_renewed(&inner, &claim, &stop) => match never {},
                () = run => {}
            }
        }
    };
    let outcome = inner.tasks.spawn(kind, work.instrument(leased.span())).await;
    if outcome.is_err() {
        tracing::error!(job = %job, "a job panicked");
        let message = "The server failed while running this.".to_owned();
        leased.fail_after_panic(J::Failure::from_code(FailureCode::Internal, message)).await;
    }
    drop(registered);
}
