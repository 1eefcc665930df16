//! Exchanges and queues of one test, removed with it.

use std::time::Duration;

use lapin::options::{ExchangeDeleteOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Connection, ConnectionProperties};
use ports::BusSignal;
use ports::queue::{Delivery, Queue};
use protocol::{ExecutionId, Job, TurnId};
use tokio::sync::broadcast;

use crate::rabbitmq::Rabbit;
use crate::rabbitmq::names::Names;

/// Nothing here takes this long unless it never happens.
pub(super) const SOON: Duration = Duration::from_secs(15);

#[expect(clippy::disallowed_methods, reason = "a test has no configuration to ask")]
pub(super) fn broker() -> String {
    std::env::var("RABBITMQ_URL")
        .expect("these tests need a RabbitMQ: set RABBITMQ_URL, for example amqp://guest:guest@127.0.0.1:5672/%2f")
}

pub(crate) struct Scratch {
    pub(crate) url: String,
    pub(crate) prefix: String,
    pub(super) names: Names,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self::at(broker())
    }

    pub(super) fn at(url: String) -> Self {
        let prefix = format!("test-{}-", uuid::Uuid::new_v4().simple());
        let names = Names::new(&prefix);
        Self { url, prefix, names }
    }

    /// What one process of the program has.
    pub(super) async fn process(&self) -> Rabbit {
        self.listening_process().await.0
    }

    pub(super) async fn listening_process(&self) -> (Rabbit, broadcast::Receiver<BusSignal>) {
        let (heard, hearing) = broadcast::channel(64);
        (Rabbit::connect(&self.url, &self.prefix, heard).await.expect("it connects"), hearing)
    }

    /// A channel behind the program's back.
    pub(super) async fn channel(&self) -> Channel {
        let connection = Connection::connect(&self.url, ConnectionProperties::default());
        connection.await.expect("a connection").create_channel().await.expect("a channel")
    }

    pub(super) async fn waiting_in(&self, channel: &Channel, queue: &str) -> u32 {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let declared = channel.queue_declare(queue.into(), options, FieldTable::default()).await;
        declared.expect("the queue is there").message_count()
    }

    pub(super) async fn consumers(&self, channel: &Channel) -> u32 {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queue = self.names.queue.as_str().into();
        let declared = channel.queue_declare(queue, options, FieldTable::default()).await;
        declared.expect("the queue is there").consumer_count()
    }

    async fn remove(url: String, names: Names) -> lapin::Result<()> {
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
        // A thread of its own, because the test's runtime cannot be waited for from a drop. A private broker may be gone.
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

/// Of both kinds in turn.
pub(super) fn jobs(count: usize) -> Vec<Job> {
    let job = |n| match n % 2 {
        0 => Job::from(TurnId::fresh()),
        _ => Job::from(ExecutionId::fresh()),
    };
    (0..count).map(job).collect()
}

pub(super) async fn pop(queue: &impl Queue) -> Delivery {
    let popped = tokio::time::timeout(SOON, queue.pop()).await;
    popped.expect("something waits").expect("pop")
}

/// Tries again until it is taken, as the outbox does.
pub(super) async fn push_until_taken(queue: &impl Queue, job: &Job) {
    let pushing = async {
        while queue.push(job).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(SOON, pushing).await.expect("it is taken in the end");
}

pub(super) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, waiting).await.unwrap_or_else(|_| panic!("in time: {what}"));
}
