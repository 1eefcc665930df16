//! `Queue` of a node.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::queue::{Delivery, SettleDelivery};
use ports::{PortResult, Queue};
use protocol::Job;

use super::backend::{BackendState, QueuePop, SimTime};
use super::fault_schedule::SimService;
use super::node::{PortCall, SimNode};

/// How often a waiting worker polls without a wake-up.
const POLL: Duration = Duration::from_secs(5);

fn queue(name: &'static str, about: impl ToString) -> PortCall {
    PortCall::new(SimService::Queue, name, about)
}

#[async_trait]
impl Queue for SimNode {
    async fn push(&self, job: &Job) -> PortResult<()> {
        let (repeated, reordered) = {
            let faults = &self.sim.faults;
            let bad = !faults.has_ended(self.sim.backend.now());
            let mut rng = self.sim.rng();
            (bad && rng.chance(faults.duplicated), bad && rng.chance(faults.reordered))
        };
        let (pushed, sim) = (job.clone(), self.sim.clone());
        let effect = move |backend: &mut BackendState| {
            let now = backend.now;
            if repeated {
                backend.queue.push(pushed.clone(), now);
            }
            if reordered {
                backend.queue.push_front(pushed, now);
            } else {
                backend.queue.push(pushed, now);
            }
            sim.backend.job_queued.notify_waiters();
            Ok(())
        };
        self.call(queue("pushes", job), effect, |()| String::new()).await
    }

    async fn pop(&self) -> PortResult<Delivery> {
        loop {
            let grown = self.sim.backend.job_queued.notified();
            tokio::pin!(grown);
            // Subscribed before the poll, so that no wake-up is lost between the two.
            grown.as_mut().enable();
            self.wait_until_running().await;
            let mut wait = POLL;
            if self.sim.backend.state().queue.depth() > 0 {
                match self.look().await? {
                    // Created with the poll: when the reply is lost, dropping it returns the job to the queue.
                    PopResult::Delivery(delivery) => return Ok(delivery),
                    PopResult::Later(at) => {
                        let left = at.map_or(POLL, |at| at.saturating_sub(self.sim.backend.now()));
                        wait = left.clamp(Duration::from_millis(1), POLL);
                    }
                }
            }
            let _ = tokio::time::timeout(wait, grown).await;
        }
    }

    async fn depth(&self) -> PortResult<u64> {
        let depth = |backend: &mut BackendState| Ok(backend.queue.depth() as u64);
        self.call(queue("asks", "for the depth"), depth, |depth| depth.to_string()).await
    }
}

enum PopResult {
    Delivery(Delivery),
    Later(Option<SimTime>),
}

impl SimNode {
    async fn look(&self) -> PortResult<PopResult> {
        let me = self.this.clone();
        let look = move |backend: &mut BackendState| {
            let Some(node) = me.upgrade() else { return Ok(PopResult::Later(None)) };
            Ok(match backend.queue.take(backend.now, node.number) {
                QueuePop::Found { tag, job } => {
                    PopResult::Delivery(Delivery::new(job, Box::new(PoppedJob { tag, node })))
                }
                QueuePop::Later(at) => PopResult::Later(at),
            })
        };
        let describe = |popped: &PopResult| match popped {
            PopResult::Delivery(delivery) => delivery.job.to_string(),
            PopResult::Later(_) => "nothing".to_owned(),
        };
        self.call(queue("pops", ""), look, describe).await
    }
}

/// A delivered job that is not settled yet.
struct PoppedJob {
    tag: u64,
    node: Arc<SimNode>,
}

#[async_trait]
impl SettleDelivery for PoppedJob {
    async fn ack(&self) -> PortResult<()> {
        let tag = self.tag;
        let ack = move |backend: &mut BackendState| {
            backend.queue.ack(tag);
            Ok(())
        };
        self.node.call(queue("acks", tag), ack, |()| String::new()).await
    }

    async fn to_back(&self, delay: Duration) -> PortResult<()> {
        let (tag, sim) = (self.tag, self.node.sim.clone());
        let to_back = move |backend: &mut BackendState| {
            let ready = backend.now + delay;
            backend.queue.requeue_last(tag, ready);
            sim.backend.job_queued.notify_waiters();
            Ok(())
        };
        self.node.call(queue("puts back", tag), to_back, |()| String::new()).await
    }

    fn give_back(&self) {
        // A crashed node has no connection: its jobs were returned when it crashed.
        if !self.node.is_crashed() {
            let backend = &self.node.sim.backend;
            let mut state = backend.state();
            let now = state.now;
            state.queue.return_job(self.tag, now);
            drop(state);
            backend.job_queued.notify_waiters();
        }
    }
}
