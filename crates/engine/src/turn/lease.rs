//! Keeping the claim: renewed on a timer, and given up in good time when it cannot be.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use ports::PortResult;
use ports::leases::LeaseRenewal;
use tokio::time::{Instant, timeout_at};

use super::registry::{Stop, StopReason};
use crate::Inner;

/// The part of a lease after which a worker that could not renew stops by itself, so that it has stopped
/// before anybody else may start.
const OURS: f64 = 0.7;
/// A renewal that failed is tried again this much sooner.
const SOONER: u32 = 10;

/// How long a worker may act on a lease that it asked for at a given moment.
pub(crate) fn ours(lease: Duration) -> Duration {
    lease.mul_f64(OURS)
}

/// Runs beside a turn or an execution, also while a stopped one is being ended. A renewal brings the news of a cancel whose hint was
/// lost, too.
pub(crate) async fn keep<F>(inner: &Inner, stop: &Stop, renew: impl Fn() -> F) -> Infallible
where
    F: Future<Output = PortResult<LeaseRenewal>>,
{
    let options = &inner.options;
    let mut pause = options.renew;
    while !stop.is_lost() {
        tokio::time::sleep(pause).await;
        let asked = Instant::now();
        let renewal = timeout_at(stop.ours_until(), renew());
        pause = match renewal.await {
            Ok(Ok(LeaseRenewal::Held { cancel_requested })) => {
                stop.ours_for(asked, options.lease);
                if cancel_requested {
                    stop.stop(StopReason::Cancelled);
                }
                options.renew
            }
            Ok(Ok(LeaseRenewal::Lost)) if stop.is_ending() => {
                stop.lose();
                options.renew
            }
            Ok(Ok(LeaseRenewal::Lost)) => {
                tracing::warn!("fenced: another worker has this job");
                lose(stop);
                options.renew
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "a lease could not be renewed");
                options.renew / SOONER
            }
            Err(_) => {
                tracing::warn!("a lease could not be renewed in time; the job is given up");
                lose(stop);
                options.renew
            }
        };
    }
    std::future::pending().await
}

fn lose(stop: &Stop) {
    metrics::counter!("pilothouse_leases_lost_total").increment(1);
    stop.lose();
}
