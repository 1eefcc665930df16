//! Cancellations between processes. A hint only: the fact is in the job's row, and whoever works on the job looks there, so
//! anything may be lost here.

use std::sync::Arc;

use futures::StreamExt;
use lapin::Channel;
use lapin::options::BasicConsumeOptions;
use lapin::types::FieldTable;
use ports::BusSignal;
use protocol::Job;
use tokio::sync::{broadcast, mpsc};

use super::line::Line;
use super::link::ANSWER;
use super::names::Names;
use super::{envelope, topology};

/// Hints that may wait to be sent; what comes on top is lost.
const CAPACITY: usize = 1024;

#[derive(Clone)]
pub(crate) struct RabbitCancel {
    hints: mpsc::Sender<Job>,
}

impl RabbitCancel {
    pub(super) fn new(line: &Arc<Line>) -> Self {
        let (hints, waiting) = mpsc::channel(CAPACITY);
        line.tasks.spawn(send(line.clone(), waiting));
        Self { hints }
    }

    /// Tells every process, this one included. Never waits and never fails.
    pub(crate) fn publish(&self, job: Job) {
        // Full, or closed: the hint is lost, which it may be.
        let _ = self.hints.try_send(job);
    }
}

async fn send(line: Arc<Line>, mut waiting: mpsc::Receiver<Job>) {
    loop {
        let job = tokio::select! {
            () = line.closing.cancelled() => return,
            job = waiting.recv() => job,
        };
        match (job, line.link()) {
            (Some(job), Ok(link)) => link.hint(&job).await,
            (Some(_), Err(_)) => {}
            (None, _) => return,
        }
    }
}

/// A fan-out exchange copies to queues, not to consumers: only with a queue of its own does every process hear everything.
pub(super) struct Listener {
    pub(super) channel: Channel,
    pub(super) names: Names,
    pub(super) heard: broadcast::Sender<BusSignal>,
}

impl Listener {
    /// Runs until something fails, and says what.
    pub(super) async fn run(self) -> String {
        let mut consumer = match tokio::time::timeout(ANSWER, self.consume()).await {
            Ok(Ok(consumer)) => consumer,
            Ok(Err(error)) => return error.to_string(),
            Err(_) => return "the broker does not answer".to_owned(),
        };
        while let Some(delivery) = consumer.next().await {
            match delivery.map(|delivery| envelope::read(&delivery.data)) {
                // Nobody may be listening, which is no failure.
                Ok(Ok(job)) => drop(self.heard.send(BusSignal::Cancel(job))),
                Ok(Err(unreadable)) => {
                    let reason = unreadable.word();
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
