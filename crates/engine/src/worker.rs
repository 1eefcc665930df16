//! Takes deliveries and runs the turns they name; executions go to `graph`. A delivery is settled nowhere else.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ports::leases::TurnClaimed;
use ports::queue::Delivery;
use ports::{PortError, PortResult};
use protocol::{Job, TurnId, WorkerId};
use tokio::time::Instant;

use crate::tasks::Kind;
use crate::turn::{self, Won};
use crate::{Engine, Inner, graph, operations, slots, sweep};

/// How long to leave a queue or store alone that has just failed.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);
/// Tries to claim a turn before its delivery goes to the back of the queue.
const CLAIM_TRIES: u32 = 3;

/// What a process does for the turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Runs turns.
    pub work: bool,
    /// Relays the outbox: finds what the queue forgot.
    pub sweep: bool,
}

impl Roles {
    pub const ALL: Self = Self { work: true, sweep: true };
}

impl Engine {
    /// Starts what the roles need. It runs until `shutdown`.
    pub fn start(&self, roles: Roles) {
        let inner = &self.inner;
        if roles.work {
            metrics::gauge!("copilot_executor_pool_size").set(inner.options.workers as f64);
            for _ in 0..inner.options.workers {
                inner.tasks.spawn(Kind::Worker, work(inner.clone()));
            }
            inner.tasks.spawn(Kind::Listener, turn::registry::listen(inner.clone()));
            inner.tasks.spawn(Kind::Completions, operations::take_completions(inner.clone()));
        }
        if roles.sweep {
            let fallback = if roles.work { sweep::Fallback::Nearby } else { sweep::Fallback::None };
            inner.tasks.spawn(Kind::Sweeper, sweep::sweep(inner.clone(), fallback));
        }
    }
}

async fn work(inner: Arc<Inner>) {
    loop {
        let delivery = tokio::select! {
            biased;
            () = inner.phase.stopping() => return,
            // Those that have begun come before anything new.
            asked = inner.returning.next() => {
                asked.lend().await;
                continue;
            }
            () = inner.reach.lost() => {
                tokio::select! {
                    biased;
                    () = inner.phase.stopping() => return,
                    () = inner.reach.found() => continue,
                }
            }
            delivery = inner.ports.queue.pop() => delivery,
            job = inner.nearby.next() => {
                take(&inner, job, None).await;
                continue;
            }
        };
        match delivery {
            Ok(delivery) => take(&inner, delivery.job.clone(), Some(delivery)).await,
            Err(error) => {
                tracing::warn!(%error, "the queue gives no deliveries");
                tokio::select! {
                    biased;
                    () = inner.phase.stopping() => return,
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        }
    }
}

async fn take(inner: &Arc<Inner>, job: Job, delivery: Option<Delivery>) {
    match job {
        Job::Turn(id) => run(inner, &id, delivery).await,
        // Runs have slots of their own: one that takes an hour keeps no turn waiting.
        Job::Execution(id) => graph::take(inner, &id, delivery).await,
    }
}

async fn run(inner: &Arc<Inner>, turn_id: &TurnId, delivery: Option<Delivery>) {
    let asked = Instant::now();
    // A name for this claim alone: the turn that this worker ran before may still be ours and wait for something, and a
    // repeated delivery of it must not look like a repeated claim.
    let worker = WorkerId::of(&inner.options.process);
    let leases = &inner.ports.leases;
    let claimed =
        claim(inner, &turn_id.into(), || leases.claim(turn_id, &worker, inner.options.lease)).await;
    let settled = match claimed {
        Ok(TurnClaimed::Won { claim, turn, log_at }) => {
            let (slot, lent) = slots::lend();
            turn::start(inner, Won { claim, turn: *turn, log_at, asked }, slot);
            // The claim is committed, so the delivery has done its duty. Settling it is not worth waiting for.
            let (settled, ()) = tokio::join!(ack(delivery), lent.freed());
            settled
        }
        Ok(TurnClaimed::Held | TurnClaimed::Waits | TurnClaimed::Ended) => ack(delivery).await,
        Err(error) => {
            tracing::warn!(turn.id = %turn_id, %error, "a turn could not be claimed");
            match delivery {
                Some(delivery) => delivery.to_back(PAUSE).await,
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
pub(crate) async fn claim<T, F>(inner: &Inner, job: &Job, ask: impl Fn() -> F) -> PortResult<T>
where
    F: Future<Output = PortResult<T>>,
{
    let mut tries = 1;
    loop {
        match ask().await {
            Err(PortError::Unavailable(reason))
                if tries < CLAIM_TRIES && !inner.phase.is_stopping() =>
            {
                tries += 1;
                tracing::warn!(job = %job, reason, "a claim had no answer; it is tried again");
                tokio::time::sleep(PAUSE).await;
            }
            answered => return answered,
        }
    }
}

pub(crate) async fn ack(delivery: Option<Delivery>) -> PortResult<()> {
    match delivery {
        Some(delivery) => delivery.ack().await,
        None => Ok(()),
    }
}
