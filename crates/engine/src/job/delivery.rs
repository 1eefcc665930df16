//! A job as it reached a worker: with a delivery to settle, or without one when the worker took it from this process's
//! own queue.

use std::time::Duration;

use ports::PortResult;
use ports::queue::Delivery;
use protocol::Job;

use crate::EngineInner;

pub(crate) struct JobDelivery {
    pub(crate) job: Job,
    delivery: Option<Delivery>,
}

impl JobDelivery {
    pub(crate) fn queued(delivery: Delivery) -> Self {
        Self { job: delivery.job.clone(), delivery: Some(delivery) }
    }

    pub(crate) fn local(job: Job) -> Self {
        Self { job, delivery: None }
    }

    pub(crate) async fn ack(self) -> PortResult<()> {
        match self.delivery {
            Some(delivery) => delivery.ack().await,
            None => Ok(()),
        }
    }

    /// Puts the delivery at the back of the queue. A job that did not come from the queue is found by the sweeper again.
    pub(crate) async fn requeue(self, inner: &EngineInner, delay: Duration) -> PortResult<()> {
        match self.delivery {
            Some(delivery) => delivery.to_back(delay).await,
            None => inner.ports.outbox.pushed(&[self.job], delay).await,
        }
    }
}
