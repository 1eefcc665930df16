//! Finds what the queue forgot: reads the outbox on a timer and pushes what is due.

use std::sync::Arc;
use std::time::Duration;

use protocol::TurnId;

use crate::Inner;

const AT_A_TIME: u32 = 500;
/// A pushed turn that nobody claimed after so many sweeps is pushed again. Generous, because a long queue is not a loss.
const PUSH_AGAIN: u32 = 15;

/// What becomes of turns that the queue does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fallback {
    /// The workers of this process take them.
    Nearby,
    /// They wait for another process.
    None,
}

pub(crate) async fn sweep(inner: Arc<Inner>, fallback: Fallback) {
    let mut timer = tokio::time::interval(inner.options.sweep);
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = inner.phase.stopping() => return,
            _ = timer.tick() => {}
        }
        let relayed = relay(&inner, fallback).await;
        inner.reach.learn(&relayed);
        if let Err(error) = relayed {
            tracing::warn!(%error, "the outbox could not be relayed; it will be tried again");
        }
    }
}

async fn relay(inner: &Inner, fallback: Fallback) -> ports::PortResult<()> {
    loop {
        // Held for as long as it may take to push them; a relay that dies meanwhile costs that much.
        let due = inner.ports.outbox.due(AT_A_TIME, 2 * inner.options.sweep).await?;
        if due.is_empty() {
            return Ok(());
        }
        let pushed = push(inner, &due).await;
        let (taken, left) = due.split_at(pushed);
        if !taken.is_empty() {
            inner.ports.outbox.pushed(taken, PUSH_AGAIN * inner.options.sweep).await?;
            metrics::counter!("pilothouse_outbox_relayed_total").increment(taken.len() as u64);
        }
        if left.is_empty() {
            continue;
        }
        match fallback {
            Fallback::Nearby => left.iter().for_each(|turn| inner.nearby.offer(turn)),
            Fallback::None => inner.ports.outbox.pushed(left, Duration::ZERO).await?,
        }
        return Ok(());
    }
}

/// How many of them the queue took before it failed.
async fn push(inner: &Inner, due: &[TurnId]) -> usize {
    for (count, turn) in due.iter().enumerate() {
        if let Err(error) = inner.ports.queue.push(turn).await {
            tracing::warn!(%error, left = due.len() - count, "the queue takes no turns");
            return count;
        }
    }
    due.len()
}
