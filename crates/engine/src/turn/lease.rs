//! Keeps a lease: renews it on a timer, and stops the job in time when it cannot be renewed.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use ports::PortResult;
use ports::leases::LeaseRenewal;
use tokio::time::{Instant, timeout_at};

use super::registry::{StopCause, StopSignal};
use crate::EngineInner;

/// The fraction of a lease after which a worker that could not renew stops by itself, so that it has stopped before
/// another worker may start.
const USABLE_FRACTION: f64 = 0.7;
/// A failed renewal is retried after this fraction of the renewal interval.
const RETRY_SPEEDUP: u32 = 10;

/// How long a worker may act on a lease, counted from its request.
pub(crate) fn usable_for(lease: Duration) -> Duration {
    lease.mul_f64(USABLE_FRACTION)
}

/// Runs beside a turn or an execution, also while a stopped one is being ended. A renewal also reports a cancel whose
/// hint was lost.
pub(crate) async fn keep_renewed<F>(
    inner: &EngineInner,
    stop: &StopSignal,
    renew: impl Fn() -> F,
) -> Infallible
where
    F: Future<Output = PortResult<LeaseRenewal>>,
{
    let options = &inner.options;
    let mut pause = options.renew;
    while !stop.is_lost() {
        tokio::time::sleep(pause).await;
        let requested_at = Instant::now();
        let renewal = timeout_at(stop.leased_until(), renew());
        pause = match renewal.await {
            Ok(Ok(LeaseRenewal::Held { cancel_requested })) => {
                stop.lease_renewed(requested_at, options.lease);
                if cancel_requested {
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
