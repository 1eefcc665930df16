//! The queue of jobs that all processes share.

use std::sync::Arc;

use async_trait::async_trait;
use ports::PortResult;
use ports::queue::{Delivery, Queue};
use protocol::Job;
use tokio::sync::{mpsc, oneshot};

use super::desk::Command;
use super::line::Line;

#[derive(Clone)]
pub(crate) struct RabbitQueue {
    line: Arc<Line>,
}

impl RabbitQueue {
    pub(super) fn new(line: Arc<Line>) -> Self {
        Self { line }
    }
}

#[async_trait]
impl Queue for RabbitQueue {
    async fn push(&self, job: &Job) -> PortResult<()> {
        self.line.publish(job).await
    }

    /// Waits through every loss of the broker: a worker has nothing better to do.
    async fn pop(&self) -> PortResult<Delivery> {
        loop {
            let link = self.line.next_link().await?;
            let (worker, delivery) = oneshot::channel();
            if link.desk.send(Command::Pop(worker)).is_ok() {
                let asking = Asking { delivery, desk: link.desk.clone() };
                if let Some(delivery) = asking.answer().await {
                    return Ok(delivery);
                }
            }
            // The desk is gone, and with it the link.
            link.over.cancel();
        }
    }

    async fn depth(&self) -> PortResult<u64> {
        self.line.link()?.depth().await
    }
}

/// A worker at the desk. The desk hears of it when the worker leaves without a delivery.
struct Asking {
    delivery: oneshot::Receiver<Delivery>,
    desk: mpsc::UnboundedSender<Command>,
}

impl Asking {
    async fn answer(mut self) -> Option<Delivery> {
        (&mut self.delivery).await.ok()
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if !self.delivery.is_terminated() {
            self.delivery.close();
            let _ = self.desk.send(Command::GaveUp);
        }
    }
}
