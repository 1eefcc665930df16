//! Takes deliveries, claims the jobs they name and starts them. Deliveries are settled only here.

use std::sync::Arc;
use std::time::Duration;

use ports::PortResult;
use ports::leases::JobClaimed;
use protocol::Job;

use crate::execution::LeasedExecution;
use crate::job::claim::{ClaimRequest, RETRY_DELAY};
use crate::job::delivery::JobDelivery;
use crate::job::execution_permit::ExecutionPermit;
use crate::job::registry::listen_for_cancels;
use crate::job::runner::spawn_guarded;
use crate::job::sweep::{self, RelayFallback};
use crate::job::worker_permit;
use crate::tasks::TaskKind;
use crate::turn::LeasedTurn;
use crate::{Engine, EngineInner, operations};

/// Delay before an execution is delivered again when no permit is free, and when its user has reached the limit.
const NO_PERMIT_DELAY: Duration = Duration::from_millis(100);
const USER_LIMIT_DELAY: Duration = Duration::from_millis(500);

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineRoles {
    /// Runs turns and executions.
    pub work: bool,
    /// Relays the outbox: pushes jobs that the queue has lost.
    pub sweep: bool,
}

impl EngineRoles {
    pub const ALL: Self = Self { work: true, sweep: true };
}

impl Engine {
    /// Starts the tasks of the roles. They run until `shutdown`.
    pub fn start(&self, roles: EngineRoles) {
        let inner = &self.inner;
        if roles.work {
            metrics::gauge!("copilot_executor_pool_size").set(inner.options.workers as f64);
            for _ in 0..inner.options.workers {
                inner.tasks.spawn(TaskKind::Worker, run_worker(inner.clone()));
            }
            inner.tasks.spawn(TaskKind::Listener, listen_for_cancels(inner.clone()));
            inner
                .tasks
                .spawn(TaskKind::Completions, operations::consume_completions(inner.clone()));
        }
        if roles.sweep {
            let fallback = if roles.work { RelayFallback::LocalQueue } else { RelayFallback::None };
            inner.tasks.spawn(TaskKind::Sweeper, sweep::sweep(inner.clone(), fallback));
        }
    }
}

async fn run_worker(inner: Arc<EngineInner>) {
    loop {
        let delivery = tokio::select! {
            biased;
            () = inner.shutdown_signal.stopping() => return,
            // Turns that have already started go before new ones.
            request = inner.permit_queue.next() => {
                request.grant().await;
                continue;
            }
            () = inner.store_health.unavailable() => {
                tokio::select! {
                    biased;
                    () = inner.shutdown_signal.stopping() => return,
                    () = inner.store_health.available() => continue,
                }
            }
            delivery = inner.ports.queue.pop() => delivery.map(JobDelivery::queued),
            job = inner.local_queue.next() => Ok(JobDelivery::local(job)),
        };
        match delivery {
            Ok(delivery) => handle_delivery(&inner, delivery).await,
            Err(error) => {
                tracing::warn!(%error, "could not receive a delivery");
                tokio::select! {
                    biased;
                    () = inner.shutdown_signal.stopping() => return,
                    () = tokio::time::sleep(RETRY_DELAY) => {}
                }
            }
        }
    }
}

async fn handle_delivery(inner: &Arc<EngineInner>, delivery: JobDelivery) {
    let job = delivery.job.clone();
    if let Err(error) = claim_and_start(inner, delivery).await {
        // The delivery will come back, and the claim will show that there is nothing to do.
        tracing::warn!(job = %job, %error, "could not settle a delivery");
    }
}

/// Returns when the delivery is settled and this worker is free again.
async fn claim_and_start(inner: &Arc<EngineInner>, delivery: JobDelivery) -> PortResult<()> {
    // Executions have permits of their own, so that a long one does not block turns.
    let mut execution_permit = ExecutionPermit::not_held(&inner.execution_permits);
    if matches!(delivery.job, Job::Execution(_)) && !execution_permit.try_acquire() {
        return delivery.requeue(inner, NO_PERMIT_DELAY).await;
    }
    let request = ClaimRequest::new(inner, delivery.job.clone());
    let claimed = match request.send_with_retry(inner).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::warn!(job = %delivery.job, %error, "could not claim a job");
            return delivery.requeue(inner, RETRY_DELAY).await;
        }
    };
    match claimed {
        JobClaimed::Turn(granted) => {
            let (permit, lent) = worker_permit::issue();
            spawn_guarded::<LeasedTurn>(inner, request, *granted, permit);
            // The claim is committed, so the delivery is no longer needed. The turn does not wait for the
            // acknowledgment.
            let (settled, ()) = tokio::join!(delivery.ack(), lent.returned());
            settled
        }
        JobClaimed::Execution(granted) => {
            spawn_guarded::<LeasedExecution>(inner, request, *granted, execution_permit);
            delivery.ack().await
        }
        JobClaimed::Held | JobClaimed::NotReady | JobClaimed::Ended => delivery.ack().await,
        JobClaimed::AtLimit => delivery.requeue(inner, USER_LIMIT_DELAY).await,
    }
}
