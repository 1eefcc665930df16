//! RabbitMQ: carries jobs to whichever process has a free worker, and cancellations to all of them. Nothing is true
//! because it is here: what the broker loses is found again in the database.

mod cancel;
mod cord;
mod desk;
mod dial;
mod envelope;
mod fault;
mod in_hand;
mod line;
mod link;
mod names;
mod queue;
mod supervisor;
#[cfg(test)]
pub(crate) mod tests;
mod topology;

use std::sync::Arc;
use std::time::Duration;

use lapin::uri::AMQPUri;
use ports::{BusSignal, FailedDependency};
use tokio::sync::broadcast;

pub(crate) use self::cancel::RabbitCancel;
use self::line::Line;
use self::link::Link;
use self::names::Names;
pub(crate) use self::queue::RabbitQueue;
use self::supervisor::Supervisor;
use crate::connect::ConnectError;

/// Longer than any single wait of the tasks that are ended.
const FAREWELL: Duration = Duration::from_secs(5);

/// The broker, for one process: two connections, kept up by one task.
pub(crate) struct Rabbit {
    line: Arc<Line>,
    cancel: RabbitCancel,
}

impl Rabbit {
    /// Cancellations of all processes are sent into `heard`. A broker that cannot be used now is an error; one that goes
    /// away later is waited for.
    pub(crate) async fn connect(
        url: &str,
        prefix: &str,
        heard: broadcast::Sender<BusSignal>,
    ) -> Result<Self, ConnectError> {
        // The parser's own words may repeat the address, and with it the password.
        let uri: AMQPUri = url.parse().map_err(|_| ConnectError::BrokerAddress)?;
        let names = Names::new(prefix);
        let (link, ends) =
            Link::open(&uri, &names).await.map_err(|error| fault::at_start(error, &uri))?;
        let link = Arc::new(link);
        let line = Arc::new(Line::new(link.clone()));
        let cancel = RabbitCancel::new(&line);
        let supervisor = Supervisor { uri, names, line: line.clone(), heard };
        line.tasks.spawn(supervisor.keep(link, ends));
        Ok(Self { line, cancel })
    }

    pub(crate) fn queue(&self) -> RabbitQueue {
        RabbitQueue::new(self.line.clone())
    }

    pub(crate) fn cancel(&self) -> RabbitCancel {
        self.cancel.clone()
    }

    /// Why the broker is of no use at the moment, if it is not. Answers within two seconds.
    pub(crate) async fn failing(&self) -> Option<FailedDependency> {
        let failing = |reason: String| Some(FailedDependency { name: "rabbitmq", reason });
        let link = match self.line.link() {
            Ok(link) => link,
            Err(error) => return failing(error.to_string()),
        };
        if link.blocked() {
            return failing("it takes no messages, for want of memory or disk".to_owned());
        }
        match link.depth().await {
            Ok(_) => None,
            Err(error) => failing(error.to_string()),
        }
    }

    /// Lets go of the broker. What is in hand and not settled goes back to it; whoever waits is told `Closed`.
    pub(crate) async fn close(&self) {
        self.line.close();
        self.line.tasks.close();
        if tokio::time::timeout(FAREWELL, self.line.tasks.wait()).await.is_err() {
            tracing::warn!("RabbitMQ was let go without a farewell");
        }
    }
}
