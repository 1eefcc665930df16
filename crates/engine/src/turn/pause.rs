//! Which calls of a step only wait. When all that are left do, the turn needs no worker.

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    unfinished: usize,
    waiting: usize,
}

#[derive(Debug)]
pub(crate) struct Pause {
    calls: watch::Sender<Calls>,
}

impl Pause {
    pub(crate) fn of(unfinished: usize) -> Self {
        Self { calls: watch::Sender::new(Calls { unfinished, waiting: 0 }) }
    }

    /// A call waits from here on, until the guard is dropped.
    pub(crate) fn begin(&self) -> Waiting<'_> {
        self.calls.send_modify(|calls| calls.waiting += 1);
        Waiting(self)
    }

    pub(crate) fn finished_one(&self) {
        self.calls.send_modify(|calls| calls.unfinished = calls.unfinished.saturating_sub(1));
    }

    /// Returns when every call that is left only waits.
    pub(crate) async fn all_wait(&self) {
        let only_waits = |calls: &Calls| calls.unfinished > 0 && calls.waiting >= calls.unfinished;
        // The sender is ours, so it is never closed.
        let _ = self.calls.subscribe().wait_for(only_waits).await;
    }
}

pub(crate) struct Waiting<'a>(&'a Pause);

impl Drop for Waiting<'_> {
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
        let pause = Pause::of(2);
        let first = pause.begin();
        assert!(pause.all_wait().now_or_never().is_none(), "one still works");
        pause.finished_one();
        assert!(pause.all_wait().now_or_never().is_some());
        drop(first);
        assert!(pause.all_wait().now_or_never().is_none());
    }
}
