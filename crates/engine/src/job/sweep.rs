//! The sweeper: reads the outbox on a timer and pushes the jobs that are due.

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
    while relay_batch(inner, fallback).await? == Relayed::More {}
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Relayed {
    More,
    All,
}

async fn relay_batch(inner: &EngineInner, fallback: RelayFallback) -> PortResult<Relayed> {
    let (outbox, interval) = (&inner.ports.outbox, inner.options.sweep);
    // The jobs are reserved for as long as pushing them may take; if this process dies, they become due again after
    // that.
    let due = outbox.due(BATCH_SIZE, 2 * interval).await?;
    if due.is_empty() {
        return Ok(Relayed::All);
    }
    let pushed = push(inner, &due).await;
    let (taken, left) = due.split_at(pushed);
    if !taken.is_empty() {
        outbox.pushed(taken, REPUSH_SWEEPS * interval).await?;
        metrics::counter!("pilothouse_outbox_relayed_total").increment(taken.len() as u64);
    }
    if left.is_empty() {
        return Ok(Relayed::More);
    }
    match fallback {
        RelayFallback::LocalQueue => {
            left.iter().for_each(|job| inner.local_queue.offer(job.clone()))
        }
        RelayFallback::None => outbox.pushed(left, Duration::ZERO).await?,
    }
    Ok(Relayed::All)
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
