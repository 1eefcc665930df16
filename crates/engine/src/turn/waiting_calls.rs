//! Which calls of a step only wait. When all that are left do, the turn needs no worker.

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

    /// A call waits from here on, until the guard is dropped.
    pub(crate) fn begin_wait(&self) -> WaitGuard<'_> {
        self.calls.send_modify(|calls| calls.waiting += 1);
        WaitGuard(self)
    }

    pub(crate) fn call_finished(&self) {
        self.calls.send_modify(|calls| calls.unfinished = calls.unfinished.saturating_sub(1));
    }

    /// Returns when every call that is left only waits.
    pub(crate) async fn all_waiting(&self) {
        let only_waits =
            |calls: &CallCounts| calls.unfinished > 0 && calls.waiting >= calls.unfinished;
        // The sender is ours, so it is never closed.
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
    fn a_step_pauses_when_every_call_that_is_left_waits() {
        let waiting = WaitingCalls::new(2);
        let first = waiting.begin_wait();
        assert!(waiting.all_waiting().now_or_never().is_none(), "one still works");
        waiting.call_finished();
        assert!(waiting.all_waiting().now_or_never().is_some());
        drop(first);
        assert!(waiting.all_waiting().now_or_never().is_none());
    }
}
