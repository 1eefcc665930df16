//! RabbitMQ: delivers each job to a process with a free worker, and cancellations to every process. The database is
//! the source of truth: it recovers whatever the broker loses.

mod cancel;
mod connection;
mod connection_state;
mod dial;
mod dispatcher;
mod envelope;
mod fault;
mod queue;
mod socket_guard;
mod supervisor;
#[cfg(test)]
pub(crate) mod tests;
mod topology;
mod topology_names;
mod unsettled_delivery;

use std::sync::Arc;
use std::time::Duration;

use lapin::uri::AMQPUri;
use ports::{BusSignal, FailedDependency};
use tokio::sync::broadcast;

pub(crate) use self::cancel::RabbitCancel;
use self::connection::BrokerConnection;
use self::connection_state::ConnectionState;
pub(crate) use self::queue::RabbitQueue;
use self::supervisor::ConnectionSupervisor;
use self::topology_names::TopologyNames;
use crate::connect::ConnectError;

/// Time limit for the background tasks to end on close. Longer than any single wait inside them.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// This process's access to the broker: two connections, kept open by one task.
pub(crate) struct RabbitBroker {
    connection_state: Arc<ConnectionState>,
    cancel: RabbitCancel,
}

impl RabbitBroker {
    /// Cancellations from all processes are sent to `signals`. Fails when the broker cannot be used now; a broker that
    /// is lost later is reconnected to.
    pub(crate) async fn connect(
        url: &str,
        prefix: &str,
        signals: broadcast::Sender<BusSignal>,
    ) -> Result<Self, ConnectError> {
        // The parser's error text may repeat the address, and with it the password.
        let uri: AMQPUri = url.parse().map_err(|_| ConnectError::BrokerAddress)?;
        let names = TopologyNames::new(prefix);
        let (connection, receivers) = BrokerConnection::open(&uri, &names)
            .await
            .map_err(|error| fault::at_start(error, &uri))?;
        let connection = Arc::new(connection);
        let connection_state = Arc::new(ConnectionState::new(connection.clone()));
        let cancel = RabbitCancel::new(&connection_state);
        let supervisor = ConnectionSupervisor {
            uri,
            names,
            connection_state: connection_state.clone(),
            signals,
        };
        connection_state.tasks.spawn(supervisor.run(connection, receivers));
        Ok(Self { connection_state, cancel })
    }

    pub(crate) fn queue(&self) -> RabbitQueue {
        RabbitQueue::new(self.connection_state.clone())
    }

    pub(crate) fn cancel(&self) -> RabbitCancel {
        self.cancel.clone()
    }

    /// Why the broker cannot be used at the moment; `None` when it can. Returns within two seconds.
    pub(crate) async fn failing(&self) -> Option<FailedDependency> {
        let failing = |reason: String| Some(FailedDependency { name: "rabbitmq", reason });
        let connection = match self.connection_state.connection() {
            Ok(connection) => connection,
            Err(error) => return failing(error.to_string()),
        };
        if connection.blocked() {
            return failing(
                "it accepts no messages because it is short of memory or disk space".to_owned(),
            );
        }
        match connection.depth().await {
            Ok(_) => None,
            Err(error) => failing(error.to_string()),
        }
    }

    /// Closes the connections. Unsettled deliveries return to the queue; waiting callers get `Closed`.
    pub(crate) async fn close(&self) {
        self.connection_state.close();
        self.connection_state.tasks.close();
        if tokio::time::timeout(CLOSE_TIMEOUT, self.connection_state.tasks.wait()).await.is_err() {
            tracing::warn!("RabbitMQ was not closed cleanly within the time limit");
        }
    }
}
