//! Takes deliveries and runs the turns they name; executions are handled by `graph`. Deliveries are settled only here
//! and there.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ports::leases::TurnClaimed;
use ports::queue::Delivery;
use ports::{PortError, PortResult};
use protocol::{Job, TurnId, WorkerId};
use tokio::time::Instant;

use crate::tasks::TaskKind;
use crate::turn::{self, ClaimedTurn};
use crate::{Engine, EngineInner, graph, operations, sweep, worker_permit};

/// Delay after the queue or the store failed.
pub(crate) const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Attempts to claim a turn before its delivery goes to the back of the queue.
const CLAIM_TRIES: u32 = 3;

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
            inner
                .tasks
                .spawn(TaskKind::Listener, turn::registry::listen_for_cancels(inner.clone()));
            inner
                .tasks
                .spawn(TaskKind::Completions, operations::consume_completions(inner.clone()));
        }
        if roles.sweep {
            let fallback = if roles.work {
                sweep::RelayFallback::LocalQueue
            } else {
                sweep::RelayFallback::None
            };
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
            delivery = inner.ports.queue.pop() => delivery,
            job = inner.local_queue.next() => {
                handle_job(&inner, job, None).await;
                continue;
            }
        };
        match delivery {
            Ok(delivery) => handle_job(&inner, delivery.job.clone(), Some(delivery)).await,
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

async fn handle_job(inner: &Arc<EngineInner>, job: Job, delivery: Option<Delivery>) {
    match job {
        Job::Turn(id) => run_turn(inner, &id, delivery).await,
        // Executions have permits of their own, so that a long one does not block turns.
        Job::Execution(id) => graph::take_delivery(inner, &id, delivery).await,
    }
}

async fn run_turn(inner: &Arc<EngineInner>, turn_id: &TurnId, delivery: Option<Delivery>) {
    let requested_at = Instant::now();
    // A worker id used for this claim only: the previous turn of this worker may still be claimed and wait for
    // something, and a repeated delivery of it must not look like a repeated claim.
    let worker = WorkerId::of(&inner.options.process);
    let leases = &inner.ports.leases;
    let claimed = claim_with_retry(inner, &turn_id.into(), || {
        leases.claim(turn_id, &worker, inner.options.lease)
    })
    .await;
    let settled = match claimed {
        Ok(TurnClaimed::Granted { claim, turn, log_at }) => {
            let (permit, lent) = worker_permit::issue();
            turn::start(inner, ClaimedTurn { claim, turn: *turn, log_at, requested_at }, permit);
            // The claim is committed, so the delivery is no longer needed. The turn does not wait for the
            // acknowledgment.
            let (settled, ()) = tokio::join!(ack_delivery(delivery), lent.returned());
            settled
        }
        Ok(TurnClaimed::Held | TurnClaimed::NotAdmitted | TurnClaimed::Ended) => {
            ack_delivery(delivery).await
        }
        Err(error) => {
            tracing::warn!(turn.id = %turn_id, %error, "could not claim a turn");
            match delivery {
                Some(delivery) => delivery.to_back(RETRY_DELAY).await,
                None => Ok(()),
            }
        }
    };
    if let Err(error) = settled {
        // The delivery will come back, and the claim will show that there is nothing to do.
        tracing::warn!(turn.id = %turn_id, %error, "could not settle a delivery");
    }
}

/// A claim whose answer was lost may have been made; the same worker id gets it by asking again.
pub(crate) async fn claim_with_retry<T, F>(
    inner: &EngineInner,
    job: &Job,
    try_claim: impl Fn() -> F,
) -> PortResult<T>
where
    F: Future<Output = PortResult<T>>,
{
    let mut tries = 1;
    loop {
        match try_claim().await {
            Err(PortError::Unavailable(reason))
                if tries < CLAIM_TRIES && !inner.shutdown_signal.is_stopping() =>
            {
                tries += 1;
                tracing::warn!(job = %job, reason, "a claim had no answer; retrying");
                tokio::time::sleep(RETRY_DELAY).await;
            }
            answered => return answered,
        }
    }
}

pub(crate) async fn ack_delivery(delivery: Option<Delivery>) -> PortResult<()> {
    match delivery {
        Some(delivery) => delivery.ack().await,
        None => Ok(()),
    }
}
