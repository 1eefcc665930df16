//! The queue tells workers to look at a job now. It contains only ids: a lost or repeated delivery only affects latency.

use std::time::Duration;

use async_trait::async_trait;
use protocol::Job;

use crate::error::PortResult;

/// Laws: at-least-once delivery (`a_pushed_job_is_delivered`); unsettled deliveries are redelivered
/// (`an_unsettled_job_is_delivered_again`), settled ones are not (`a_settled_job_is_never_delivered_again`); first in,
/// first out among ready jobs (`deliveries_come_in_order`); `to_back` moves a job behind all waiting ones
/// (`to_back_requeues_at_the_end`). A job that is pushed twice may be delivered twice.
#[async_trait]
pub trait Queue: Send + Sync {
    /// The queue has the job when this returns. It may lose it when its process ends: the outbox then pushes it again.
    async fn push(&self, job: &Job) -> PortResult<()>;

    /// Waits for the next delivery. Dropping the future loses nothing.
    async fn pop(&self) -> PortResult<Delivery>;

    /// The number of waiting deliveries, for metrics.
    async fn depth(&self) -> PortResult<u64>;
}

/// A received job. If it is dropped without being settled, it is redelivered.
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

    /// Settles the delivery: it is not redelivered.
    pub async fn ack(mut self) -> PortResult<()> {
        match &self.settle {
            Some(settle) => settle.ack().await?,
            None => return Ok(()),
        }
        self.settle = None;
        Ok(())
    }

    /// Moves the job behind all waiting ones, not before `delay` has passed.
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
