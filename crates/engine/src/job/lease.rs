//! Keeps a lease: renews it on a timer, stops the job in time when it cannot be renewed, and hands the job back.

use std::convert::Infallible;
use std::time::Duration;

use ports::Fenced;
use ports::leases::LeaseRenewal;
use protocol::{Job, JobClaim};
use tokio::time::{Instant, timeout_at};

use super::stop::{StopCause, StopSignal};
use crate::EngineInner;

/// The fraction of a lease after which a worker that could not renew stops by itself, so that it has stopped before
/// another worker may start.
const USABLE_FRACTION: f64 = 0.7;
/// A failed renewal is retried after this fraction of the renewal interval.
const RETRY_SPEEDUP: u32 = 10;

/// Until when a worker may act on a lease that was requested at `requested_at`.
pub(crate) fn usable_until(requested_at: Instant, lease: Duration) -> Instant {
    requested_at + lease.mul_f64(USABLE_FRACTION)
}

/// Runs beside a job, also while a stopped one is being ended; never returns. A renewal also reports a stop whose hint
/// was lost.
pub(crate) async fn keep_renewed(
    inner: &EngineInner,
    claim: &JobClaim,
    stop: &StopSignal,
) -> Infallible {
    let options = &inner.options;
    let mut pause = options.renew;
    while !stop.is_lost() {
        tokio::time::sleep(pause).await;
        let requested_at = Instant::now();
        let renewal =
            timeout_at(stop.leased_until(), inner.ports.leases.renew(claim, options.lease));
        pause = match renewal.await {
            Ok(Ok(LeaseRenewal::Held { stop_requested })) => {
                stop.lease_renewed(requested_at, options.lease);
                if stop_requested {
                    stop.stop(StopCause::Cancelled);
                }
                options.renew
            }
            Ok(Ok(LeaseRenewal::Lost)) if stop.is_releasing() => {
                stop.mark_lost();
                options.renew
            }
            Ok(Ok(LeaseRenewal::Lost)) => {
                tracing::warn!("fenced: another worker has this job");
                lose_lease(stop);
                options.renew
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "could not renew a lease");
                options.renew / RETRY_SPEEDUP
            }
            Err(_) => {
                tracing::warn!("could not renew a lease in time; the job is stopped");
                lose_lease(stop);
                options.renew
            }
        };
    }
    std::future::pending().await
}

fn lose_lease(stop: &StopSignal) {
    metrics::counter!("pilothouse_leases_lost_total").increment(1);
    stop.mark_lost();
}

/// Makes the job due at once for other workers, without counting a crash.
pub(crate) async fn hand_back(inner: &EngineInner, claim: &JobClaim) {
    let kind = match claim.job {
        Job::Turn(_) => "turn",
        Job::Execution(_) => "execution",
    };
    match inner.ports.leases.hand_back(claim).await {
        Ok(Fenced::Done(())) => tracing::info!("{kind} handed back"),
        Ok(Fenced::Stale) => {}
        Err(error) => {
            tracing::warn!(%error, "could not hand the {kind} back; its lease will expire")
        }
    }
}
