//! Connection to the broker: two AMQP connections with their channels, valid until any part of them fails. A failed
//! connection is never repaired; the supervisor opens a new one.

use std::time::Duration;

use lapin::options::{
    BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions, QueueDeclareOptions,
};
use lapin::types::FieldTable;
use lapin::uri::AMQPUri;
use lapin::{BasicProperties, Channel, Confirmation, Connection, PublisherConfirm};
use ports::PortResult;
use protocol::Job;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::dial::{DialError, GuardedConnection, dial};
use super::dispatcher::DispatcherCommand;
use super::fault::{lost, unavailable};
use super::topology_names::{ROUTING_KEY, TopologyNames};
use super::{envelope, topology};

/// Time limit for one reply from the broker.
pub(crate) const ANSWER: Duration = Duration::from_secs(2);
const PERSISTENT: u8 = 2;
/// Number of channels for consumers. A channel handles one request at a time, and opening or cancelling a consumer
/// waits for the broker's disks.
const CONSUMING: usize = 8;

pub(crate) struct BrokerConnection {
    /// Publishing has its own connection: a broker that is short of memory stops reading from connections that
    /// publish, and acknowledgements must not wait for that.
    publishing: GuardedConnection,
    consuming: GuardedConnection,
    jobs: Channel,
    hints: Channel,
    queries: Channel,
    names: TopologyNames,
    pub(crate) dispatcher: mpsc::UnboundedSender<DispatcherCommand>,
    /// Cancelled when any part of the connection failed.
    pub(crate) failed: CancellationToken,
    confirms: TaskTracker,
}

/// The receiving halves of a new connection, for its dispatcher and its cancellation listener.
pub(crate) struct ConnectionReceivers {
    pub(crate) consuming: Vec<Channel>,
    pub(crate) listening: Channel,
    pub(crate) commands: mpsc::UnboundedReceiver<DispatcherCommand>,
}

impl BrokerConnection {
    pub(crate) async fn open(
        uri: &AMQPUri,
        names: &TopologyNames,
    ) -> Result<(Self, ConnectionReceivers), DialError> {
        let (publishing, consuming) =
            tokio::try_join!(dial(uri, "publishing"), dial(uri, "consuming"))?;
        tokio::time::timeout(ANSWER * 2, Self::set_up(publishing, consuming, names))
            .await
            .map_err(|_| DialError::TooSlow)?
            .map_err(DialError::Failed)
    }

    async fn set_up(
        publishing: GuardedConnection,
        consuming: GuardedConnection,
        names: &TopologyNames,
    ) -> lapin::Result<(Self, ConnectionReceivers)> {
        let jobs = publishing.connection.create_channel().await?;
        topology::declare(&jobs, names).await?;
        jobs.confirm_select(ConfirmSelectOptions::default()).await?;
        let hints = publishing.connection.create_channel().await?;
        let queries = consuming.connection.create_channel().await?;
        let opening = (0..CONSUMING).map(|_| open_consuming_channel(&consuming.connection));
        let channels = futures::future::try_join_all(opening).await?;
        let listening = consuming.connection.create_channel().await?;
        // Unbounded, because a dropped delivery cannot wait for capacity. The length is still limited: there are never
        // more commands than workers that wait or hold a delivery.
        let (dispatcher, commands) = mpsc::unbounded_channel();
        let connection = Self {
            publishing,
            consuming,
            jobs,
            hints,
            queries,
            names: names.clone(),
            dispatcher,
            failed: CancellationToken::new(),
            confirms: TaskTracker::new(),
        };
        Ok((connection, ConnectionReceivers { consuming: channels, listening, commands }))
    }

    /// Appends a job to the queue. Returns once the broker has it in the queue and on disk.
    pub(crate) async fn publish(&self, job: &Job) -> PortResult<()> {
        if self.publishing.connection.status().blocked() {
            return Err(unavailable(
                "it accepts no messages because it is short of memory or disk space",
            ));
        }
        let confirmed = tokio::time::timeout(ANSWER, self.publish_and_wait(job)).await;
        match confirmed {
            Ok(Ok(Confirmation::Ack(None))) => Ok(()),
            // A confirmation does not mean that a queue has the message: without a queue, the broker returns the
            // message before it confirms.
            Ok(Ok(Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)))) => {
                self.failed.cancel();
                Err(unavailable("the queue does not exist"))
            }
            Ok(Ok(Confirmation::Nack(None) | Confirmation::NotRequested)) => {
                Err(unavailable("it rejected the message"))
            }
            Ok(Err(error)) => {
                self.failed.cancel();
                Err(lost(&error))
            }
            Err(_) => Err(unavailable("it did not confirm the message in time")),
        }
    }

    async fn publish_and_wait(&self, job: &Job) -> lapin::Result<Confirmation> {
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let properties = BasicProperties::default()
            .with_delivery_mode(PERSISTENT)
            .with_content_type("application/json".into());
        let (exchange, key) = (self.names.execution.as_str().into(), ROUTING_KEY.into());
        let payload = envelope::write(job);
        let confirm = self.jobs.basic_publish(exchange, key, options, &payload, properties).await?;
        self.await_confirmation(confirm).await
    }

    /// Awaits the confirmation even if the caller is gone: the client keeps a dropped confirmation for as long as the
    /// channel lives.
    async fn await_confirmation(&self, confirm: PublisherConfirm) -> lapin::Result<Confirmation> {
        let failed = self.failed.clone();
        let waiting = self.confirms.spawn(async move {
            tokio::select! {
                confirmation = confirm => confirmation,
                () = failed.cancelled() => Err(connection_aborted()),
            }
        });
        waiting.await.unwrap_or_else(|_| Err(connection_aborted()))
    }

    /// Sends a cancellation to every process, without confirmation: a hint may be lost.
    pub(crate) async fn hint(&self, job: &Job) {
        if self.publishing.connection.status().blocked() {
            return;
        }
        let exchange = self.names.cancel.as_str().into();
        let payload = envelope::write(job);
        let publishing = self.hints.basic_publish(
            exchange,
            "".into(),
            BasicPublishOptions::default(),
            &payload,
            BasicProperties::default(),
        );
        if let Ok(Err(_)) = tokio::time::timeout(ANSWER, publishing).await {
            self.failed.cancel();
        }
    }

    pub(crate) async fn depth(&self) -> PortResult<u64> {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queue = self.names.queue.as_str().into();
        let pending = self.queries.queue_declare(queue, options, FieldTable::default());
        match tokio::time::timeout(ANSWER, pending).await {
            Ok(Ok(queue)) => Ok(u64::from(queue.message_count())),
            Ok(Err(error)) => {
                self.failed.cancel();
                Err(lost(&error))
            }
            Err(_) => Err(unavailable("it does not answer")),
        }
    }

    /// Whether the broker blocks publishing, which causes no connection error.
    pub(crate) fn blocked(&self) -> bool {
        self.publishing.connection.status().blocked()
    }

    /// Whether all connections and channels are open, as far as this side knows.
    pub(crate) fn is_connected(&self) -> bool {
        let connections = [&self.publishing.connection, &self.consuming.connection];
        let channels = [&self.jobs, &self.hints, &self.queries];
        connections.iter().all(|connection| connection.status().connected())
            && channels.iter().all(|channel| channel.status().connected())
    }

    /// Closes both connections; the broker requeues every unsettled delivery.
    pub(crate) async fn close(&self) {
        self.failed.cancel();
        let closing = futures::future::join(
            self.consuming.connection.close(200, "OK".into()),
            self.publishing.connection.close(200, "OK".into()),
        );
        // If the broker does not reply, shutting the sockets down on drop closes the connections.
        let _ = tokio::time::timeout(ANSWER, closing).await;
        self.confirms.close();
        self.confirms.wait().await;
    }
}

/// A channel whose consumers get one message at a time each.
async fn open_consuming_channel(connection: &Connection) -> lapin::Result<Channel> {
    let channel = connection.create_channel().await?;
    channel.basic_qos(1, BasicQosOptions { global: false }).await?;
    Ok(channel)
}

fn connection_aborted() -> lapin::Error {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted).into()
}
