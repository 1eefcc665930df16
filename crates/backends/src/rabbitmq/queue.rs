//! The job queue that all processes share.

use std::sync::Arc;

use async_trait::async_trait;
use ports::PortResult;
use ports::queue::{Delivery, Queue};
use protocol::Job;
use tokio::sync::{mpsc, oneshot};

use super::connection_state::ConnectionState;
use super::dispatcher::DispatcherCommand;

#[derive(Clone)]
pub(crate) struct RabbitQueue {
    connection_state: Arc<ConnectionState>,
}

impl RabbitQueue {
    pub(crate) fn new(connection_state: Arc<ConnectionState>) -> Self {
        Self { connection_state }
    }
}

#[async_trait]
impl Queue for RabbitQueue {
    async fn push(&self, job: &Job) -> PortResult<()> {
        self.connection_state.publish(job).await
    }

    /// Keeps waiting while the broker is lost, because a worker has nothing else to do.
    async fn pop(&self) -> PortResult<Delivery> {
        loop {
            let connection = self.connection_state.next_connection().await?;
            let (worker, delivery) = oneshot::channel();
            if connection.dispatcher.send(DispatcherCommand::Pop(worker)).is_ok() {
                let pending = PendingPop { delivery, dispatcher: connection.dispatcher.clone() };
                if let Some(delivery) = pending.delivery().await {
                    return Ok(delivery);
                }
            }
            // The dispatcher is gone, and with it the connection.
            connection.failed.cancel();
        }
    }

    async fn depth(&self) -> PortResult<u64> {
        self.connection_state.connection()?.depth().await
    }
}

/// A worker waiting for a delivery. Notifies the dispatcher when it is dropped without one.
struct PendingPop {
    delivery: oneshot::Receiver<Delivery>,
    dispatcher: mpsc::UnboundedSender<DispatcherCommand>,
}

impl PendingPop {
    async fn delivery(mut self) -> Option<Delivery> {
        (&mut self.delivery).await.ok()
    }
}

impl Drop for PendingPop {
    fn drop(&mut self) {
        if !self.delivery.is_terminated() {
            self.delivery.close();
            let _ = self.dispatcher.send(DispatcherCommand::WorkerGone);
        }
    }
}
