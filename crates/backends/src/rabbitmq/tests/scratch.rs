//! Exchanges and queues of one test, removed when it ends.

use std::time::Duration;

use lapin::options::{ExchangeDeleteOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Connection, ConnectionProperties};
use ports::BusSignal;
use ports::queue::{Delivery, Queue};
use protocol::{ExecutionId, Job, TurnId};
use tokio::sync::broadcast;

use crate::rabbitmq::RabbitBroker;
use crate::rabbitmq::topology_names::TopologyNames;

/// Time limit for everything a test waits for.
pub(crate) const SOON: Duration = Duration::from_secs(15);

#[expect(clippy::disallowed_methods, reason = "a test has no configuration to ask")]
pub(crate) fn broker() -> String {
    std::env::var("RABBITMQ_URL")
        .expect("these tests need a RabbitMQ: set RABBITMQ_URL, for example amqp://guest:guest@127.0.0.1:5672/%2f")
}

pub(crate) struct Scratch {
    pub(crate) url: String,
    pub(crate) prefix: String,
    pub(crate) names: TopologyNames,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self::at(broker())
    }

    pub(crate) fn at(url: String) -> Self {
        let prefix = format!("test-{}-", uuid::Uuid::new_v4().simple());
        let names = TopologyNames::new(&prefix);
        Self { url, prefix, names }
    }

    /// The broker access of one process.
    pub(crate) async fn process(&self) -> RabbitBroker {
        self.listening_process().await.0
    }

    pub(crate) async fn listening_process(&self) -> (RabbitBroker, broadcast::Receiver<BusSignal>) {
        let (signals, hearing) = broadcast::channel(64);
        (
            RabbitBroker::connect(&self.url, &self.prefix, signals).await.expect("it connects"),
            hearing,
        )
    }

    /// A channel of the test itself, separate from the program's.
    pub(crate) async fn channel(&self) -> Channel {
        let connection = Connection::connect(&self.url, ConnectionProperties::default());
        connection.await.expect("a connection").create_channel().await.expect("a channel")
    }

    pub(crate) async fn waiting_in(&self, channel: &Channel, queue: &str) -> u32 {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let declared = channel.queue_declare(queue.into(), options, FieldTable::default()).await;
        declared.expect("the queue is there").message_count()
    }

    pub(crate) async fn consumers(&self, channel: &Channel) -> u32 {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queue = self.names.queue.as_str().into();
        let declared = channel.queue_declare(queue, options, FieldTable::default()).await;
        declared.expect("the queue is there").consumer_count()
    }

    async fn remove(url: String, names: TopologyNames) -> lapin::Result<()> {
        let connection = Connection::connect(&url, ConnectionProperties::default()).await?;
        let channel = connection.create_channel().await?;
        for queue in [&names.queue, &names.dead_queue] {
            channel.queue_delete(queue.as_str().into(), QueueDeleteOptions::default()).await?;
        }
        for exchange in [&names.execution, &names.dead_exchange, &names.cancel] {
            let options = ExchangeDeleteOptions::default();
            channel.exchange_delete(exchange.as_str().into(), options).await?;
        }
        connection.close(200, "OK".into()).await
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let (url, names) = (self.url.clone(), self.names.clone());
        // In its own thread, because a drop cannot wait for the test's runtime. A private broker may be gone already.
        let removing = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .expect("a runtime");
            let removal = async { tokio::time::timeout(SOON, Self::remove(url, names)).await };
            drop(runtime.block_on(removal));
            runtime.shutdown_background();
        });
        removing.join().expect("removing does not panic");
    }
}

/// Turns and executions alternately.
pub(crate) fn jobs(count: usize) -> Vec<Job> {
    let job = |n| match n % 2 {
        0 => Job::from(TurnId::fresh()),
        _ => Job::from(ExecutionId::fresh()),
    };
    (0..count).map(job).collect()
}

pub(crate) async fn pop(queue: &impl Queue) -> Delivery {
    let popped = tokio::time::timeout(SOON, queue.pop()).await;
    popped.expect("a delivery in time").expect("pop")
}

/// Retries until the push succeeds, as the outbox does.
pub(crate) async fn push_until_taken(queue: &impl Queue, job: &Job) {
    let pushing = async {
        while queue.push(job).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(SOON, pushing).await.expect("the push succeeds eventually");
}

pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, waiting)
        .await
        .unwrap_or_else(|_| panic!("timed out waiting for: {what}"));
}
