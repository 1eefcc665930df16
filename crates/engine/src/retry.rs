//! Retries store calls until the store answers or the lease is lost. An outage shorter than the lease costs only time;
//! after a longer one another worker continues the job.

use std::future::Future;
use std::time::Duration;

use ports::{Fenced, PortError, PortResult};
use tokio::time::timeout_at;

use crate::turn::halt::{TurnHalt, require_fence};
use crate::turn::registry::{StopCause, StopSignal};

/// Delay between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// For reads and for idempotent writes.
pub(crate) async fn retry_while_leased<T, F>(
    stop: &StopSignal,
    call: impl Fn() -> F,
) -> Result<T, TurnHalt>
where
    F: Future<Output = PortResult<T>>,
{
    loop {
        match while_leased(stop, call()).await? {
            Ok(value) => return Ok(value),
            Err(PortError::Unavailable(_)) if stop.is_lost() => {
                return Err(TurnHalt::Stop(StopCause::LeaseLost));
            }
            Err(PortError::Unavailable(reason)) => {
                tracing::warn!(reason, "the store does not answer; retrying");
                tokio::time::sleep(RETRY_DELAY).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Abandons a hanging call when the lease expires: the caller may own tools that must be stopped by then.
async fn while_leased<T>(stop: &StopSignal, call: impl Future<Output = T>) -> Result<T, TurnHalt> {
    let mut call = std::pin::pin!(call);
    loop {
        match timeout_at(stop.leased_until(), &mut call).await {
            Ok(answer) => return Ok(answer),
            Err(_) if stop.is_lost() => return Err(TurnHalt::Stop(StopCause::LeaseLost)),
            // The lease was renewed meanwhile.
            Err(_) => {}
        }
    }
}

/// The same for a call that checks the fence.
pub(crate) async fn retry_fenced<T, F>(
    stop: &StopSignal,
    call: impl Fn() -> F,
) -> Result<T, TurnHalt>
where
    F: Future<Output = PortResult<Fenced<T>>>,
{
    require_fence(retry_while_leased(stop, call).await?)
}
