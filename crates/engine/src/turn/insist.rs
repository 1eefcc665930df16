//! Calls to the store that are made again until it answers. An outage that is shorter than the lease costs time and
//! nothing else; a longer one costs the lease, and another worker goes on.

use std::future::Future;
use std::time::Duration;

use ports::{Fenced, PortError, PortResult};
use tokio::time::timeout_at;

use super::halt::{Halt, unfenced};
use super::registry::{Stop, StopReason};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(200);

/// For reads, and for writes that may be repeated.
pub(crate) async fn insist<T, F>(stop: &Stop, call: impl Fn() -> F) -> Result<T, Halt>
where
    F: Future<Output = PortResult<T>>,
{
    loop {
        match while_ours(stop, call()).await? {
            Ok(value) => return Ok(value),
            Err(PortError::Unavailable(_)) if stop.is_lost() => {
                return Err(Halt::Stop(StopReason::LeaseLost));
            }
            Err(PortError::Unavailable(reason)) => {
                tracing::warn!(reason, "the store does not answer; it is asked again");
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// A call that hangs is given up with the lease: whoever waited for it may hold tools that have to be stopped by then.
async fn while_ours<T>(stop: &Stop, call: impl Future<Output = T>) -> Result<T, Halt> {
    let mut call = std::pin::pin!(call);
    loop {
        match timeout_at(stop.ours_until(), &mut call).await {
            Ok(answer) => return Ok(answer),
            Err(_) if stop.is_lost() => return Err(Halt::Stop(StopReason::LeaseLost)),
            // Renewed meanwhile.
            Err(_) => {}
        }
    }
}

/// The same for a call that carries the fence.
pub(crate) async fn insist_fenced<T, F>(stop: &Stop, call: impl Fn() -> F) -> Result<T, Halt>
where
    F: Future<Output = PortResult<Fenced<T>>>,
{
    unfenced(insist(stop, call).await?)
}
