//! Cancellations between processes. A hint only, which may be lost: the request is stored in the job's row, which the
//! process that runs the job reads.

use std::sync::Arc;

use futures::StreamExt;
use lapin::Channel;
use lapin::options::BasicConsumeOptions;
use lapin::types::FieldTable;
use ports::BusSignal;
use protocol::Job;
use tokio::sync::{broadcast, mpsc};

use super::connection::ANSWER;
use super::connection_state::ConnectionState;
use super::topology_names::TopologyNames;
use super::{envelope, topology};

/// Hints that may wait to be sent; further ones are dropped.
const CAPACITY: usize = 1024;

#[derive(Clone)]
pub(crate) struct RabbitCancel {
    hints: mpsc::Sender<Job>,
}

impl RabbitCancel {
    pub(crate) fn new(connection_state: &Arc<ConnectionState>) -> Self {
        let (hints, waiting) = mpsc::channel(CAPACITY);
        connection_state.tasks.spawn(send(connection_state.clone(), waiting));
        Self { hints }
    }

    /// Sends a cancellation to every process, this one included. Never waits and never fails.
    pub(crate) fn publish(&self, job: Job) {
        // Full or closed: the hint is lost, which is allowed.
        let _ = self.hints.try_send(job);
    }
}

async fn send(connection_state: Arc<ConnectionState>, mut waiting: mpsc::Receiver<Job>) {
    loop {
        let job = tokio::select! {
            () = connection_state.closing.cancelled() => return,
            job = waiting.recv() => job,
        };
        match (job, connection_state.connection()) {
            (Some(job), Ok(connection)) => connection.hint(&job).await,
            (Some(_), Err(_)) => {}
            (None, _) => return,
        }
    }
}

/// Receives cancellations on a queue of its own: a fan-out exchange copies messages to queues, not to consumers, so
/// every process needs its own queue to receive all of them.
pub(crate) struct CancelListener {
    pub(crate) channel: Channel,
    pub(crate) names: TopologyNames,
    pub(crate) signals: broadcast::Sender<BusSignal>,
}

impl CancelListener {
    /// Runs until something fails, and returns the reason.
    pub(crate) async fn run(self) -> String {
        let mut consumer = match tokio::time::timeout(ANSWER, self.consume()).await {
            Ok(Ok(consumer)) => consumer,
            Ok(Err(error)) => return error.to_string(),
            Err(_) => return "the broker does not reply".to_owned(),
        };
        while let Some(delivery) = consumer.next().await {
            match delivery.map(|delivery| envelope::read(&delivery.data)) {
                // Without receivers this fails, which is not an error.
                Ok(Ok(job)) => drop(self.signals.send(BusSignal::Cancel(job))),
                Ok(Err(unreadable)) => {
                    let reason = unreadable.reason_label();
                    tracing::warn!(reason, "a cancellation could not be read");
                }
                Err(error) => return error.to_string(),
            }
        }
        "the broker ended the queue of cancellations".to_owned()
    }

    async fn consume(&self) -> lapin::Result<lapin::Consumer> {
        let queue = topology::declare_own_queue(&self.channel, &self.names).await?;
        let options = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
        let (queue, tag) = (queue.as_str().into(), "cancellations".into());
        self.channel.basic_consume(queue, tag, options, FieldTable::default()).await
    }
}
