//! Calls to the store that are made again until it answers. An outage that is shorter than the lease costs time and
//! nothing else; a longer one costs the lease, and another worker goes on.

use std::future::Future;
use std::time::Duration;

use ports::{Fenced, PortError, PortResult};

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
        match call().await {
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

/// The same for a call that carries the fence.
pub(crate) async fn insist_fenced<T, F>(stop: &Stop, call: impl Fn() -> F) -> Result<T, Halt>
where
    F: Future<Output = PortResult<Fenced<T>>>,
{
    unfenced(insist(stop, call).await?)
}
