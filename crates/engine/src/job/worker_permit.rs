//! Worker permits. A turn that only waits returns its permit while keeping its claim, and acquires one again before it
//! continues. So a pool with one worker can run a turn that waits for another turn.

use tokio::sync::oneshot;

use super::wake_queue::WakeQueue;

/// The right to use a worker. Dropping it frees the worker.
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
        // Nothing is ever sent: the channel closes when the permit is dropped.
        let _ = self.0.await;
    }
}

/// Turns that have waited and want to continue. Workers serve them before taking new jobs.
#[derive(Default)]
pub(crate) struct PermitQueue {
    requests: WakeQueue<oneshot::Sender<WorkerPermit>>,
}

impl PermitQueue {
    /// Waits for a permit. Dropping the future withdraws the request.
    pub(crate) async fn acquire(&self) -> WorkerPermit {
        loop {
            let (sender, receiver) = oneshot::channel();
            self.requests.push_if(sender, |_, _| true);
            if let Ok(permit) = receiver.await {
                return permit;
            }
        }
    }

    /// For a worker: waits for the oldest request. Cancel-safe.
    pub(crate) async fn next(&self) -> PermitRequest {
        PermitRequest(self.requests.next().await)
    }
}

/// A turn's request for a permit.
pub(crate) struct PermitRequest(oneshot::Sender<WorkerPermit>);

impl PermitRequest {
    /// Grants a permit and returns when it is given back.
    pub(crate) async fn grant(self) {
        let (permit, lent) = issue();
        // If the turn no longer waits, the permit is dropped and returned at once.
        let _ = self.0.send(permit);
        lent.returned().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_waiting_turn_gets_the_next_free_worker_and_returns_it_by_dropping_the_permit() {
        let queue = PermitQueue::default();
        let mut serving = std::pin::pin!(async { queue.next().await.grant().await });
        let permit = tokio::select! {
            permit = queue.acquire() => permit,
            () = &mut serving => panic!("no permit was returned yet"),
        };
        assert!(futures::poll!(&mut serving).is_pending(), "the worker is in use");
        drop(permit);
        serving.await;
    }

    #[tokio::test]
    async fn a_withdrawn_request_costs_the_worker_nothing() {
        let queue = PermitQueue::default();
        {
            let mut gone = std::pin::pin!(queue.acquire());
            assert!(futures::poll!(&mut gone).is_pending());
        }
        queue.next().await.grant().await;
    }
}
