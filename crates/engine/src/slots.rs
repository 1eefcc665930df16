//! The workers' slots. A turn that only waits gives its slot up without giving up the turn, and asks for one again
//! before it goes on. So a pool of one worker can run a turn that waits for another.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use tokio::sync::{Notify, oneshot};

/// The right to a worker's time. Dropping it frees the worker.
pub(crate) struct Slot {
    _freed_on_drop: oneshot::Sender<()>,
}

/// The worker's side of a slot.
pub(crate) struct Lent(oneshot::Receiver<()>);

pub(crate) fn lend() -> (Slot, Lent) {
    let (sender, receiver) = oneshot::channel();
    (Slot { _freed_on_drop: sender }, Lent(receiver))
}

impl Lent {
    pub(crate) async fn freed(self) {
        // Nothing is ever sent: the slot is dropped.
        let _ = self.0.await;
    }
}

/// Turns that have waited and want to go on. Workers serve them before they take anything new.
#[derive(Default)]
pub(crate) struct Returning {
    waiting: Mutex<VecDeque<oneshot::Sender<Slot>>>,
    grown: Notify,
}

impl Returning {
    /// Waits for a slot. Dropping the future leaves the line.
    pub(crate) async fn ask(&self) -> Slot {
        loop {
            let (sender, receiver) = oneshot::channel();
            self.waiting().push_back(sender);
            self.grown.notify_one();
            if let Ok(slot) = receiver.await {
                return slot;
            }
        }
    }

    /// For a worker: the one that has waited longest, once there is one. Dropping the future loses nothing.
    pub(crate) async fn next(&self) -> Asked {
        loop {
            if let Some(asked) = self.take() {
                return asked;
            }
            self.grown.notified().await;
        }
    }

    fn take(&self) -> Option<Asked> {
        let mut waiting = self.waiting();
        let next = waiting.pop_front();
        if !waiting.is_empty() {
            // A single notice may stand for several.
            self.grown.notify_one();
        }
        next.map(Asked)
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<oneshot::Sender<Slot>>> {
        self.waiting.lock().expect("no code panics while it holds this lock")
    }
}

/// A turn that wants a slot.
pub(crate) struct Asked(oneshot::Sender<Slot>);

impl Asked {
    /// Lends it the worker's time, and returns when it is given back.
    pub(crate) async fn lend(self) {
        let (slot, lent) = lend();
        // One that no longer waits drops the slot, and it is free at once.
        let _ = self.0.send(slot);
        lent.freed().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_returning_turn_gets_the_slot_of_the_next_free_worker_and_gives_it_up_by_dropping_it()
    {
        let returning = Returning::default();
        let mut serving = std::pin::pin!(async { returning.next().await.lend().await });
        let slot = tokio::select! {
            slot = returning.ask() => slot,
            () = &mut serving => panic!("nobody has given a slot back"),
        };
        assert!(futures::poll!(&mut serving).is_pending(), "the worker is lent");
        drop(slot);
        serving.await;
    }

    #[tokio::test]
    async fn one_that_no_longer_waits_costs_the_worker_nothing() {
        let returning = Returning::default();
        {
            let mut gone = std::pin::pin!(returning.ask());
            assert!(futures::poll!(&mut gone).is_pending());
        }
        returning.next().await.lend().await;
    }
}
