//! What says "look at this job now". It carries ids only: losing or repeating a delivery changes
//! latency, nothing else.

use std::time::Duration;

use async_trait::async_trait;
use protocol::Job;

use crate::error::PortResult;

/// Laws: at least once (`what_is_pushed_is_delivered`); unsettled comes back
/// (`an_unsettled_delivery_comes_back`); settled never does (`a_settled_delivery_never_comes_back`);
/// first in, first out among those that are ready (`deliveries_come_in_order`); `to_back` puts behind
/// everything that waits (`to_back_goes_to_the_end`). A job that is pushed twice may be delivered twice.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Taken over by the queue when it returns. A queue may forget what it was given when its process ends: the outbox
    /// then finds the job.
    async fn push(&self, job: &Job) -> PortResult<()>;

    /// Waits for the next delivery. Dropping the future loses nothing.
    async fn pop(&self) -> PortResult<Delivery>;

    /// How many deliveries wait, for the metrics.
    async fn depth(&self) -> PortResult<u64>;
}

/// A message in our hands. Dropped without a word it comes back.
pub struct Delivery {
    pub job: Job,
    settle: Option<Box<dyn SettleDelivery>>,
}

/// How a backend settles one delivery.
#[async_trait]
pub trait SettleDelivery: Send + Sync {
    async fn ack(&self) -> PortResult<()>;
    async fn to_back(&self, delay: Duration) -> PortResult<()>;
    /// Called from `drop`: must not wait.
    fn give_back(&self);
}

impl Delivery {
    pub fn new(job: Job, settle: Box<dyn SettleDelivery>) -> Self {
        Self { job, settle: Some(settle) }
    }

    /// Done with it: it never comes back.
    pub async fn ack(mut self) -> PortResult<()> {
        match &self.settle {
            Some(settle) => settle.ack().await?,
            None => return Ok(()),
        }
        self.settle = None;
        Ok(())
    }

    /// Not now: behind everything that waits, and not before `delay` has passed.
    pub async fn to_back(mut self, delay: Duration) -> PortResult<()> {
        match &self.settle {
            Some(settle) => settle.to_back(delay).await?,
            None => return Ok(()),
        }
        self.settle = None;
        Ok(())
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(settle) = self.settle.take() {
            settle.give_back();
        }
    }
}
