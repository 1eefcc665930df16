//! Takes deliveries and runs the turns they name; executions go to `graph`. A delivery is settled nowhere else.

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

/// How long to leave a queue or store alone that has just failed.
pub(crate) const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Tries to claim a turn before its delivery goes to the back of the queue.
const CLAIM_TRIES: u32 = 3;

/// What a process does for the turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineRoles {
    /// Runs turns.
    pub work: bool,
    /// Relays the outbox: finds what the queue forgot.
    pub sweep: bool,
}

impl EngineRoles {
    pub const ALL: Self = Self { work: true, sweep: true };
}

impl Engine {
    /// Starts what the roles need. It runs until `shutdown`.
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
            // Those that have begun come before anything new.
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
                tracing::warn!(%error, "the queue gives no deliveries");
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
        // Runs have slots of their own: one that takes an hour keeps no turn waiting.
        Job::Execution(id) => graph::take_delivery(inner, &id, delivery).await,
    }
}

async fn run_turn(inner: &Arc<EngineInner>, turn_id: &TurnId, delivery: Option<Delivery>) {
    let requested_at = Instant::now();
    // A name for this claim alone: the turn that this worker ran before may still be ours and wait for something, and a
    // repeated delivery of it must not look like a repeated claim.
    let worker = WorkerId::of(&inner.options.process);
    let leases = &inner.ports.leases;
    let claimed = claim_with_retry(inner, &turn_id.into(), || {
        leases.claim(turn_id, &worker, inner.options.lease)
    })
    .await;
    let settled = match claimed {
        Ok(TurnClaimed::Won { claim, turn, log_at }) => {
            let (permit, lent) = worker_permit::issue();
            turn::start(inner, ClaimedTurn { claim, turn: *turn, log_at, requested_at }, permit);
            // The claim is committed, so the delivery has done its duty. Settling it is not worth waiting for.
            let (settled, ()) = tokio::join!(ack_delivery(delivery), lent.returned());
            settled
        }
        Ok(TurnClaimed::Held | TurnClaimed::Waits | TurnClaimed::Ended) => {
            ack_delivery(delivery).await
        }
        Err(error) => {
            tracing::warn!(turn.id = %turn_id, %error, "a turn could not be claimed");
            match delivery {
                Some(delivery) => delivery.to_back(RETRY_DELAY).await,
                None => Ok(()),
            }
        }
    };
    if let Err(error) = settled {
        // It comes back, and the claim then says that there is nothing to do.
        tracing::warn!(turn.id = %turn_id, %error, "a delivery could not be settled");
    }
}

/// A claim whose answer was not heard may have been made; the same worker gets it by asking again.
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
                tracing::warn!(job = %job, reason, "a claim had no answer; it is tried again");
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
