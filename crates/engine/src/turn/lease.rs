//! Keeping the claim: renewed on a timer, and given up in good time when it cannot be.

use std::convert::Infallible;
use std::time::Instant;

use ports::leases::Renewal;
use protocol::turn::Claim;

use super::registry::{Stop, StopReason};
use crate::Inner;

/// The part of a lease after which a worker that could not renew stops by itself, so that it has stopped
/// before anybody else may start.
const OURS: f64 = 0.7;

/// Runs beside the turn. A renewal also brings the news of a cancel whose hint was lost.
pub(super) async fn keep(inner: &Inner, claim: &Claim, stop: &Stop) -> Infallible {
    let options = &inner.options;
    let mut renewed = Instant::now();
    while stop.now().is_none() {
        tokio::time::sleep(options.renew).await;
        let asked = Instant::now();
        match inner.ports.leases.renew(claim, options.lease).await {
            Ok(Renewal::Held { cancel_requested }) => {
                renewed = asked;
                if cancel_requested {
                    stop.stop(StopReason::Cancelled);
                }
            }
            Ok(Renewal::Lost) => {
                tracing::warn!("fenced: another worker has this turn");
                metrics::counter!("pilothouse_leases_lost_total").increment(1);
                stop.stop(StopReason::LeaseLost);
            }
            Err(error) => {
                tracing::warn!(%error, "a lease could not be renewed");
                if renewed.elapsed() > options.lease.mul_f64(OURS) {
                    stop.stop(StopReason::LeaseLost);
                }
            }
        }
    }
    std::future::pending().await
}
