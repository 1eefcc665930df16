//! Retries store calls until the store answers or the lease is lost. An outage shorter than the lease costs only time;
//! after a longer one another worker continues the job.

use std::future::Future;
use std::time::Duration;

use ports::{Fenced, PortError, PortResult};
use tokio::time::timeout_at;

use super::halt::StoreHalt;
use super::stop::{StopCause, StopSignal};

/// Delay between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// For reads and for idempotent writes.
pub(crate) async fn retry_while_leased<T, F>(
    stop: &StopSignal,
    call: impl Fn() -> F,
) -> Result<T, StoreHalt>
where
    F: Future<Output = PortResult<T>>,
{
    loop {
        match while_leased(stop, call()).await? {
            Ok(value) => return Ok(value),
            Err(PortError::Unavailable(_)) if stop.is_lost() => {
                return Err(StopCause::LeaseLost.into());
            }
            Err(PortError::Unavailable(reason)) => {
                tracing::warn!(reason, "the store does not answer; retrying");
                tokio::time::sleep(RETRY_DELAY).await;
            }
            Err(error) => return Err(StoreHalt::Error(error)),
        }
    }
}

/// Abandons a hanging call when the lease expires: the caller may own tools that must be stopped by then.
async fn while_leased<T>(stop: &StopSignal, call: impl Future<Output = T>) -> Result<T, StopCause> {
    let mut call = std::pin::pin!(call);
    loop {
        match timeout_at(stop.leased_until(), &mut call).await {
            Ok(answer) => return Ok(answer),
            Err(_) if stop.is_lost() => return Err(StopCause::LeaseLost),
            // The lease was renewed meanwhile.
            Err(_) => {}
        }
    }
}

/// The same for a call that checks the fence. A stale fence means that another worker has the job.
pub(crate) async fn retry_fenced<T, F>(
    stop: &StopSignal,
    call: impl Fn() -> F,
) -> Result<T, StoreHalt>
where
    F: Future<Output = PortResult<Fenced<T>>>,
{
    match retry_while_leased(stop, call).await? {
        Fenced::Done(value) => Ok(value),
        Fenced::Stale => Err(StopCause::LeaseLost.into()),
    }
}
