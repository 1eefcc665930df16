//! Finds what the queue forgot: reads the outbox on a timer and pushes what is due.

use std::sync::Arc;
use std::time::Duration;

use crate::Inner;

const AT_A_TIME: u32 = 500;
/// A pushed turn that nobody claimed in this time is pushed again. Generous, because a long queue is not a loss.
const PUSH_AGAIN: Duration = Duration::from_secs(30);

pub(crate) async fn sweep(inner: Arc<Inner>) {
    let mut timer = tokio::time::interval(inner.options.sweep);
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = inner.phase.stopping() => return,
            _ = timer.tick() => {}
        }
        if let Err(error) = relay(&inner).await {
            tracing::warn!(%error, "the outbox could not be relayed; it will be tried again");
        }
    }
}

async fn relay(inner: &Inner) -> ports::PortResult<()> {
    loop {
        let due = inner.ports.outbox.due(AT_A_TIME).await?;
        if due.is_empty() {
            return Ok(());
        }
        for turn in &due {
            inner.ports.queue.push(turn).await?;
        }
        inner.ports.outbox.pushed(&due, PUSH_AGAIN).await?;
        metrics::counter!("pilothouse_outbox_relayed_total").increment(due.len() as u64);
    }
}
