//! One life of the connection to the broker: two connections with their channels, from the moment everything is declared
//! until anything of it fails. Nothing of a link is ever repaired; the supervisor makes a new one.

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

use super::desk::Command;
use super::dial::{DialError, Dialed, dial};
use super::fault::{lost, unavailable};
use super::names::{Names, RUN_KEY};
use super::{envelope, topology};

/// How long the broker may take for one answer.
pub(super) const ANSWER: Duration = Duration::from_secs(2);
const PERSISTENT: u8 = 2;
/// A channel does one thing at a time, and to open or cancel a consumer it waits for the broker's disks.
const CONSUMING: usize = 8;

pub(super) struct Link {
    /// Publishing has a connection of its own: a broker that is short of memory stops reading from those that publish, and
    /// acknowledgements must not wait for that.
    speaking: Dialed,
    hearing: Dialed,
    jobs: Channel,
    hints: Channel,
    questions: Channel,
    names: Names,
    pub(super) desk: mpsc::UnboundedSender<Command>,
    /// Cancelled when anything of it failed.
    pub(super) over: CancellationToken,
    confirms: TaskTracker,
}

/// What the desk and the listener of a new link work with.
pub(super) struct Ends {
    pub(super) consuming: Vec<Channel>,
    pub(super) listening: Channel,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
}

impl Link {
    pub(super) async fn open(uri: &AMQPUri, names: &Names) -> Result<(Self, Ends), DialError> {
        let (speaking, hearing) =
            tokio::try_join!(dial(uri, "publishing"), dial(uri, "consuming"))?;
        tokio::time::timeout(ANSWER * 2, Self::set_up(speaking, hearing, names))
            .await
            .map_err(|_| DialError::TooSlow)?
            .map_err(DialError::Failed)
    }

    async fn set_up(
        speaking: Dialed,
        hearing: Dialed,
        names: &Names,
    ) -> lapin::Result<(Self, Ends)> {
        let jobs = speaking.connection.create_channel().await?;
        topology::declare(&jobs, names).await?;
        jobs.confirm_select(ConfirmSelectOptions::default()).await?;
        let hints = speaking.connection.create_channel().await?;
        let questions = hearing.connection.create_channel().await?;
        let consuming = (0..CONSUMING).map(|_| consuming(&hearing.connection));
        let consuming = futures::future::try_join_all(consuming).await?;
        let listening = hearing.connection.create_channel().await?;
        // There are never more commands than workers that wait or have something in hand, so that this has a limit
        // although it states none; and a delivery that is dropped cannot wait for room.
        let (desk, commands) = mpsc::unbounded_channel();
        let link = Self {
            speaking,
            hearing,
            jobs,
            hints,
            questions,
            names: names.clone(),
            desk,
            over: CancellationToken::new(),
            confirms: TaskTracker::new(),
        };
        Ok((link, Ends { consuming, listening, commands }))
    }

    /// Puts a job at the end of the queue. Done when the broker has it in the queue and on its disks.
    pub(super) async fn publish(&self, job: &Job) -> PortResult<()> {
        if self.speaking.connection.status().blocked() {
            return Err(unavailable("it takes no messages at present, for want of memory or disk"));
        }
        let told = tokio::time::timeout(ANSWER, self.publish_and_wait(job)).await;
        match told {
            Ok(Ok(Confirmation::Ack(None))) => Ok(()),
            // A confirmation says nothing about a queue: without one the message comes back first.
            Ok(Ok(Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)))) => {
                self.over.cancel();
                Err(unavailable("the queue is gone"))
            }
            Ok(Ok(Confirmation::Nack(None) | Confirmation::NotRequested)) => {
                Err(unavailable("it did not take the message"))
            }
            Ok(Err(error)) => {
                self.over.cancel();
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
        let (exchange, key) = (self.names.execution.as_str().into(), RUN_KEY.into());
        let payload = envelope::write(job);
        let confirm = self.jobs.basic_publish(exchange, key, options, &payload, properties).await?;
        self.waited_for(confirm).await
    }

    /// A confirmation is awaited to its end even when the caller is gone: the client remembers those that are dropped for
    /// as long as the channel lives.
    async fn waited_for(&self, confirm: PublisherConfirm) -> lapin::Result<Confirmation> {
        let over = self.over.clone();
        let waiting = self.confirms.spawn(async move {
            tokio::select! {
                confirmation = confirm => confirmation,
                () = over.cancelled() => Err(gone()),
            }
        });
        waiting.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Tells every process. Nobody confirms it: a hint may be lost.
    pub(super) async fn hint(&self, job: &Job) {
        if self.speaking.connection.status().blocked() {
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
            self.over.cancel();
        }
    }

    pub(super) async fn depth(&self) -> PortResult<u64> {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queue = self.names.queue.as_str().into();
        let asking = self.questions.queue_declare(queue, options, FieldTable::default());
        match tokio::time::timeout(ANSWER, asking).await {
            Ok(Ok(queue)) => Ok(u64::from(queue.message_count())),
            Ok(Err(error)) => {
                self.over.cancel();
                Err(lost(&error))
            }
            Err(_) => Err(unavailable("it does not answer")),
        }
    }

    /// Whether publishing is held up, which no connection error tells.
    pub(super) fn blocked(&self) -> bool {
        self.speaking.connection.status().blocked()
    }

    /// Whether all of it still stands, as far as this side knows.
    pub(super) fn whole(&self) -> bool {
        let connections = [&self.speaking.connection, &self.hearing.connection];
        let channels = [&self.jobs, &self.hints, &self.questions];
        connections.iter().all(|connection| connection.status().connected())
            && channels.iter().all(|channel| channel.status().connected())
    }

    /// Says goodbye, which gives every delivery back that nobody has settled.
    pub(super) async fn close(&self) {
        self.over.cancel();
        let closing = futures::future::join(
            self.hearing.connection.close(200, "OK".into()),
            self.speaking.connection.close(200, "OK".into()),
        );
        // A broker that does not answer finds out by the sockets, which are shut when the link is dropped.
        let _ = tokio::time::timeout(ANSWER, closing).await;
        self.confirms.close();
        self.confirms.wait().await;
    }
}

/// A channel whose consumers get one message at a time each.
async fn consuming(connection: &Connection) -> lapin::Result<Channel> {
    let channel = connection.create_channel().await?;
    channel.basic_qos(1, BasicQosOptions { global: false }).await?;
    Ok(channel)
}

fn gone() -> lapin::Error {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted).into()
}
