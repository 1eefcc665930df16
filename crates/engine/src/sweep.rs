//! The sweeper: reads the outboxes of turns and executions on a timer and pushes the jobs that are due.

use std::sync::Arc;
use std::time::Duration;

use ports::PortResult;
use protocol::Job;

use crate::EngineInner;

const BATCH_SIZE: u32 = 500;
/// A pushed job that was not claimed within this many sweeps is pushed again. Generous, because a long queue is not a
/// lost job.
const REPUSH_SWEEPS: u32 = 15;

/// What happens to jobs that the queue does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelayFallback {
    /// Workers of this process take them.
    LocalQueue,
    /// They stay in the outbox for another process.
    None,
}

pub(crate) async fn sweep(inner: Arc<EngineInner>, fallback: RelayFallback) {
    let mut timer = tokio::time::interval(inner.options.sweep);
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = inner.shutdown_signal.stopping() => return,
            _ = timer.tick() => {}
        }
        let relayed = relay(&inner, fallback).await;
        inner.store_health.record(&relayed);
        if let Err(error) = relayed {
            tracing::warn!(%error, "could not relay the outbox; retrying at the next sweep");
        }
    }
}

async fn relay(inner: &EngineInner, fallback: RelayFallback) -> PortResult<()> {
    for outbox in [JobOutbox::Turns, JobOutbox::Executions] {
        while outbox.relay(inner, fallback).await? == Relayed::More {}
    }
    Ok(())
}

/// The outbox that jobs are read from.
#[derive(Clone, Copy)]
enum JobOutbox {
    Turns,
    Executions,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Relayed {
    More,
    All,
}

impl JobOutbox {
    async fn relay(self, inner: &EngineInner, fallback: RelayFallback) -> PortResult<Relayed> {
        // The jobs are reserved for as long as pushing them may take; if this process dies, they become due again after
        // that.
        let due = self.due(inner, 2 * inner.options.sweep).await?;
        if due.is_empty() {
            return Ok(Relayed::All);
        }
        let pushed = push(inner, &due).await;
        let (taken, left) = due.split_at(pushed);
        if !taken.is_empty() {
            self.pushed(inner, taken, REPUSH_SWEEPS * inner.options.sweep).await?;
            metrics::counter!("pilothouse_outbox_relayed_total").increment(taken.len() as u64);
        }
        if left.is_empty() {
            return Ok(Relayed::More);
        }
        match fallback {
            RelayFallback::LocalQueue => {
                left.iter().for_each(|job| inner.local_queue.offer(job.clone()))
            }
            RelayFallback::None => self.pushed(inner, left, Duration::ZERO).await?,
        }
        Ok(Relayed::All)
    }

    async fn due(self, inner: &EngineInner, hold: Duration) -> PortResult<Vec<Job>> {
        Ok(match self {
            Self::Turns => {
                let due = inner.ports.outbox.due(BATCH_SIZE, hold).await?;
                due.into_iter().map(Job::Turn).collect()
            }
            Self::Executions => {
                let due = inner.ports.executions.due(BATCH_SIZE, hold).await?;
                due.into_iter().map(Job::Execution).collect()
            }
        })
    }

    async fn pushed(
        self,
        inner: &EngineInner,
        jobs: &[Job],
        push_again_in: Duration,
    ) -> PortResult<()> {
        let (mut turns, mut executions) = (Vec::new(), Vec::new());
        for job in jobs {
            match job {
                Job::Turn(id) => turns.push(id.clone()),
                Job::Execution(id) => executions.push(id.clone()),
            }
        }
        match self {
            Self::Turns => inner.ports.outbox.pushed(&turns, push_again_in).await,
            Self::Executions => inner.ports.executions.pushed(&executions, push_again_in).await,
        }
    }
}

/// How many of them the queue accepted before it failed.
async fn push(inner: &EngineInner, due: &[Job]) -> usize {
    for (count, job) in due.iter().enumerate() {
        if let Err(error) = inner.ports.queue.push(job).await {
            tracing::warn!(%error, left = due.len() - count, "the queue does not accept jobs");
            return count;
        }
    }
    due.len()
}
