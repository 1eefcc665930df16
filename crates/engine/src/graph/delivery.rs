//! A delivery that names an execution: claimed if there is a slot for it, put to the back of the queue if there is not.

use std::sync::Arc;
use std::time::Duration;

use ports::PortResult;
use ports::queue::Delivery;
use ports::store::ExecutionClaimed;
use protocol::{ExecutionId, WorkerId};
use tokio::time::Instant;

use super::run::{self, Won};
use super::slot::Slots;
use crate::Inner;
use crate::worker::{PAUSE, ack, claim};

/// How long a run that finds no slot stays away from the queue, and one whose user has enough of them.
const NO_SLOT: Duration = Duration::from_millis(100);
const AT_CAP: Duration = Duration::from_millis(500);

/// Returns as soon as the delivery is settled: the run goes on by itself.
pub(crate) async fn take(inner: &Arc<Inner>, id: &ExecutionId, delivery: Option<Delivery>) {
    let settled = match Slots::try_take(&inner.execution_slots) {
        None => later(inner, id, delivery, NO_SLOT).await,
        Some(slots) => claim_and_start(inner, id, slots, delivery).await,
    };
    if let Err(error) = settled {
        // It comes back, and the claim then says that there is nothing to do.
        tracing::warn!(execution.id = %id, %error, "a delivery could not be settled");
    }
}

async fn claim_and_start(
    inner: &Arc<Inner>,
    id: &ExecutionId,
    slots: Slots,
    delivery: Option<Delivery>,
) -> PortResult<()> {
    let asked = Instant::now();
    let worker = WorkerId::of(&inner.options.process);
    let executions = &inner.ports.executions;
    let claimed =
        claim(inner, &id.into(), || executions.claim(id, &worker, inner.options.lease)).await;
    match claimed {
        Ok(ExecutionClaimed::Won { claim, execution }) => {
            run::start(inner, Won { claim, execution: *execution, asked }, slots);
            ack(delivery).await
        }
        Ok(ExecutionClaimed::Held | ExecutionClaimed::Rests | ExecutionClaimed::Ended) => {
            ack(delivery).await
        }
        Ok(ExecutionClaimed::AtCap) => later(inner, id, delivery, AT_CAP).await,
        Err(error) => {
            tracing::warn!(execution.id = %id, %error, "an execution could not be claimed");
            later(inner, id, delivery, PAUSE).await
        }
    }
}

/// Behind everything that waits. One that came without the queue is found by the sweeper again.
async fn later(
    inner: &Inner,
    id: &ExecutionId,
    delivery: Option<Delivery>,
    delay: Duration,
) -> PortResult<()> {
    match delivery {
        Some(delivery) => delivery.to_back(delay).await,
        None => inner.ports.executions.pushed(std::slice::from_ref(id), delay).await,
    }
}
