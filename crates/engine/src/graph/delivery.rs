//! A delivery that names an execution: claimed if there is a slot for it, put to the back of the queue if there is not.

use std::sync::Arc;
use std::time::Duration;

use ports::queue::Delivery;
use ports::store::ExecutionClaimed;
use ports::{PortError, PortResult};
use protocol::{ExecutionId, WorkerId};
use tokio::time::Instant;

use super::run::{self, Won};
use super::slot::Slots;
use crate::Inner;

/// How long a run that finds no slot, or whose user has enough of them, stays away from the queue.
const LATER: Duration = Duration::from_millis(500);
const CLAIM_TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// Returns as soon as the delivery is settled: the run goes on by itself.
pub(crate) async fn take(inner: &Arc<Inner>, id: &ExecutionId, delivery: Option<Delivery>) {
    let settled = match Slots::try_take(&inner.execution_slots) {
        None => later(inner, id, delivery, LATER).await,
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
    match claim(inner, id).await {
        Ok(ExecutionClaimed::Won { claim, execution }) => {
            run::start(inner, Won { claim, execution: *execution, asked }, slots);
            ack(delivery).await
        }
        Ok(ExecutionClaimed::Held | ExecutionClaimed::Rests | ExecutionClaimed::Ended) => {
            ack(delivery).await
        }
        Ok(ExecutionClaimed::AtCap) => later(inner, id, delivery, LATER).await,
        Err(error) => {
            tracing::warn!(execution.id = %id, %error, "an execution could not be claimed");
            later(inner, id, delivery, PAUSE).await
        }
    }
}

/// A claim whose answer was not heard may have been made; the same worker gets it by asking again.
async fn claim(inner: &Inner, id: &ExecutionId) -> PortResult<ExecutionClaimed> {
    let worker = WorkerId::fresh();
    let mut tries = 1;
    loop {
        match inner.ports.executions.claim(id, &worker, inner.options.lease).await {
            Err(PortError::Unavailable(reason))
                if tries < CLAIM_TRIES && !inner.phase.is_stopping() =>
            {
                tries += 1;
                tracing::warn!(execution.id = %id, reason, "a claim had no answer; it is tried again");
                tokio::time::sleep(PAUSE).await;
            }
            answered => return answered,
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

async fn ack(delivery: Option<Delivery>) -> PortResult<()> {
    match delivery {
        Some(delivery) => delivery.ack().await,
        None => Ok(()),
    }
}
