//! Tracks which calls of a step only wait for other work. When all unfinished calls do, the turn needs no worker.

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, Default)]
struct CallCounts {
    unfinished: usize,
    waiting: usize,
}

#[derive(Debug)]
pub(crate) struct WaitingCalls {
    calls: watch::Sender<CallCounts>,
}

impl WaitingCalls {
    pub(crate) fn new(unfinished: usize) -> Self {
        Self { calls: watch::Sender::new(CallCounts { unfinished, waiting: 0 }) }
    }

    /// The call counts as waiting until the guard is dropped.
    pub(crate) fn begin_wait(&self) -> WaitGuard<'_> {
        self.calls.send_modify(|calls| calls.waiting += 1);
        WaitGuard(self)
    }

    pub(crate) fn call_finished(&self) {
        self.calls.send_modify(|calls| calls.unfinished = calls.unfinished.saturating_sub(1));
    }

    /// Returns when every unfinished call only waits.
    pub(crate) async fn all_waiting(&self) {
        let only_waits =
            |calls: &CallCounts| calls.unfinished > 0 && calls.waiting >= calls.unfinished;
        // `self` owns the sender, so the channel is never closed.
        let _ = self.calls.subscribe().wait_for(only_waits).await;
    }
}

pub(crate) struct WaitGuard<'a>(&'a WaitingCalls);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.calls.send_modify(|calls| calls.waiting -= 1);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_step_yields_when_every_unfinished_call_waits() {
        let waiting = WaitingCalls::new(2);
        let first = waiting.begin_wait();
        assert!(waiting.all_waiting().now_or_never().is_none(), "one still works");
        waiting.call_finished();
        assert!(waiting.all_waiting().now_or_never().is_some());
        drop(first);
        assert!(waiting.all_waiting().now_or_never().is_none());
    }
}
