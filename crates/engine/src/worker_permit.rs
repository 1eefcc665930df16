//! The workers' slots. A turn that only waits gives its permit up without giving up the turn, and asks for one again
//! before it goes on. So a pool of one worker can run a turn that waits for another.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use tokio::sync::{Notify, oneshot};

/// The right to a worker's time. Dropping it frees the worker.
pub(crate) struct WorkerPermit {
    _returned_on_drop: oneshot::Sender<()>,
}

/// The worker's side of a permit.
pub(crate) struct LentPermit(oneshot::Receiver<()>);

pub(crate) fn issue() -> (WorkerPermit, LentPermit) {
    let (sender, receiver) = oneshot::channel();
    (WorkerPermit { _returned_on_drop: sender }, LentPermit(receiver))
}

impl LentPermit {
    pub(crate) async fn returned(self) {
        // Nothing is ever sent: the permit is dropped.
        let _ = self.0.await;
    }
}

/// Turns that have waited and want to go on. Workers serve them before they take anything new.
#[derive(Default)]
pub(crate) struct PermitQueue {
    requests: Mutex<VecDeque<oneshot::Sender<WorkerPermit>>>,
    added: Notify,
}

impl PermitQueue {
    /// Waits for a permit. Dropping the future leaves the line.
    pub(crate) async fn acquire(&self) -> WorkerPermit {
        loop {
            let (sender, receiver) = oneshot::channel();
            self.requests().push_back(sender);
            self.added.notify_one();
            if let Ok(permit) = receiver.await {
                return permit;
            }
        }
    }

    /// For a worker: the one that has waited longest, once there is one. Dropping the future loses nothing.
    pub(crate) async fn next(&self) -> PermitRequest {
        loop {
            if let Some(request) = self.take() {
                return request;
            }
            self.added.notified().await;
        }
    }

    fn take(&self) -> Option<PermitRequest> {
        let mut requests = self.requests();
        let next = requests.pop_front();
        if !requests.is_empty() {
            // A single notice may stand for several.
            self.added.notify_one();
        }
        next.map(PermitRequest)
    }

    fn requests(&self) -> MutexGuard<'_, VecDeque<oneshot::Sender<WorkerPermit>>> {
        self.requests.lock().expect("no code panics while it holds this lock")
    }
}

/// A turn that wants a permit.
pub(crate) struct PermitRequest(oneshot::Sender<WorkerPermit>);

impl PermitRequest {
    /// Lends it the worker's time, and returns when it is given back.
    pub(crate) async fn grant(self) {
        let (permit, lent) = issue();
        // One that no longer waits drops the permit, and it is free at once.
        let _ = self.0.send(permit);
        lent.returned().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_returning_turn_gets_the_slot_of_the_next_free_worker_and_gives_it_up_by_dropping_it()
    {
        let queue = PermitQueue::default();
        let mut serving = std::pin::pin!(async { queue.next().await.grant().await });
        let permit = tokio::select! {
            permit = queue.acquire() => permit,
            () = &mut serving => panic!("nobody has given a permit back"),
        };
        assert!(futures::poll!(&mut serving).is_pending(), "the worker is lent");
        drop(permit);
        serving.await;
    }

    #[tokio::test]
    async fn one_that_no_longer_waits_costs_the_worker_nothing() {
        let queue = PermitQueue::default();
        {
            let mut gone = std::pin::pin!(queue.acquire());
            assert!(futures::poll!(&mut gone).is_pending());
        }
        queue.next().await.grant().await;
    }
}
