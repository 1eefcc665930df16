//! Handles a delivery that names an execution: claims it if a permit is free, otherwise puts the delivery at the back
//! of the queue.

use std::sync::Arc;
use std::time::Duration;

use ports::PortResult;
use ports::queue::Delivery;
use ports::store::ExecutionClaimed;
use protocol::{ExecutionId, WorkerId};
use tokio::time::Instant;

use super::execution_attempt::{self, ClaimedExecution};
use super::execution_permit::ExecutionPermit;
use crate::EngineInner;
use crate::worker::{RETRY_DELAY, ack_delivery, claim_with_retry};

/// Delay before an execution is delivered again when no permit is free, and when its user has reached the limit.
const NO_PERMIT_DELAY: Duration = Duration::from_millis(100);
const USER_LIMIT_DELAY: Duration = Duration::from_millis(500);

/// Returns as soon as the delivery is settled; the execution runs in its own task.
pub(crate) async fn take_delivery(
    inner: &Arc<EngineInner>,
    id: &ExecutionId,
    delivery: Option<Delivery>,
) {
    let settled = match ExecutionPermit::try_acquire(&inner.execution_permits) {
        None => requeue(inner, id, delivery, NO_PERMIT_DELAY).await,
        Some(permit) => claim_and_start(inner, id, permit, delivery).await,
    };
    if let Err(error) = settled {
        // The delivery will come back, and the claim will show that there is nothing to do.
        tracing::warn!(execution.id = %id, %error, "could not settle a delivery");
    }
}

async fn claim_and_start(
    inner: &Arc<EngineInner>,
    id: &ExecutionId,
    permit: ExecutionPermit,
    delivery: Option<Delivery>,
) -> PortResult<()> {
    let requested_at = Instant::now();
    let worker = WorkerId::of(&inner.options.process);
    let executions = &inner.ports.executions;
    let claimed =
        claim_with_retry(inner, &id.into(), || executions.claim(id, &worker, inner.options.lease))
            .await;
    match claimed {
        Ok(ExecutionClaimed::Granted { claim, execution }) => {
            execution_attempt::start(
                inner,
                ClaimedExecution { claim, execution: *execution, requested_at },
                permit,
            );
            ack_delivery(delivery).await
        }
        Ok(ExecutionClaimed::Held | ExecutionClaimed::InReview | ExecutionClaimed::Ended) => {
            ack_delivery(delivery).await
        }
        Ok(ExecutionClaimed::AtCap) => requeue(inner, id, delivery, USER_LIMIT_DELAY).await,
        Err(error) => {
            tracing::warn!(execution.id = %id, %error, "could not claim an execution");
            requeue(inner, id, delivery, RETRY_DELAY).await
        }
    }
}

/// Puts the delivery at the back of the queue. An execution that did not come from the queue is found by the sweeper
/// again.
async fn requeue(
    inner: &EngineInner,
    id: &ExecutionId,
    delivery: Option<Delivery>,
    delay: Duration,
) -> PortResult<()> {
    match delivery {
        Some(delivery) => delivery.to_back(delay).await,
        None => inner.ports.executions.pushed(std::slice::from_ref(id), delay).await,
    }
}
