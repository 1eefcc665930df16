//! Keeps a connection to the broker: runs one until any part of it fails, then opens a new one, retrying without limit.

use std::sync::Arc;
use std::time::Duration;

use lapin::uri::AMQPUri;
use ports::BusSignal;
use tokio::sync::broadcast;
use uuid::Uuid;

use super::cancel::CancelListener;
use super::connection::{BrokerConnection, ConnectionReceivers};
use super::connection_state::ConnectionState;
use super::dial::DialError;
use super::dispatcher::Dispatcher;
use super::topology_names::TopologyNames;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How often the connection is checked: closing an unused channel raises no event.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) struct ConnectionSupervisor {
    pub(crate) uri: AMQPUri,
    pub(crate) names: TopologyNames,
    pub(crate) connection_state: Arc<ConnectionState>,
    pub(crate) signals: broadcast::Sender<BusSignal>,
}

impl ConnectionSupervisor {
    pub(crate) async fn run(self, first: Arc<BrokerConnection>, receivers: ConnectionReceivers) {
        let mut current = Some((first, receivers));
        while let Some((connection, receivers)) = current {
            let reason = self.run_connection(&connection, receivers).await;
            let closing = self.connection_state.closing.clone();
            if !closing.is_cancelled() {
                tracing::warn!(%reason, "the connection to RabbitMQ was lost");
                self.connection_state.set_down(reason);
            }
            connection.close().await;
            // Shuts its sockets, unless a caller still waits for it, which is bounded in time.
            drop(connection);
            current = tokio::select! {
                next = self.reconnect() => Some(next),
                () = closing.cancelled() => None,
            };
        }
    }

    async fn run_connection(
        &self,
        connection: &BrokerConnection,
        receivers: ConnectionReceivers,
    ) -> String {
        let dispatcher = Dispatcher::new(
            self.connection_state.clone(),
            receivers.consuming,
            self.names.queue.clone(),
            connection.dispatcher.clone(),
            receivers.commands,
        );
        let listener = CancelListener {
            channel: receivers.listening,
            names: self.names.clone(),
            signals: self.signals.clone(),
        };
        tokio::select! {
            reason = dispatcher.run() => reason,
            reason = listener.run() => reason,
            () = connection.failed.cancelled() => "a call failed".to_owned(),
            () = until_disconnected(connection) => "a channel was closed".to_owned(),
        }
    }

    async fn reconnect(&self) -> (Arc<BrokerConnection>, ConnectionReceivers) {
        let mut pause = FIRST_PAUSE;
        let mut logged_reason = String::new();
        loop {
            tokio::time::sleep(with_jitter(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            match BrokerConnection::open(&self.uri, &self.names).await {
                Ok((connection, receivers)) => {
                    let connection = Arc::new(connection);
                    self.connection_state.set_up(connection.clone());
                    tracing::info!("connected to RabbitMQ again");
                    return (connection, receivers);
                }
                Err(error) => {
                    let reason = match error {
                        DialError::TooSlow => "it does not answer".to_owned(),
                        DialError::Failed(error) => error.to_string(),
                    };
                    // Logged once per reason, not with every attempt.
                    if logged_reason != reason {
                        tracing::warn!(%reason, "RabbitMQ cannot be reached");
                        self.connection_state.set_down(reason.clone());
                        logged_reason = reason;
                    }
                }
            }
        }
    }
}

async fn until_disconnected(connection: &BrokerConnection) {
    let mut checks = tokio::time::interval(CHECK_INTERVAL);
    loop {
        checks.tick().await;
        if !connection.is_connected() {
            return;
        }
    }
}

/// Half to all of the pause, so that processes that lost the broker together do not all reconnect at once.
fn with_jitter(pause: Duration) -> Duration {
    let chance = f64::from(Uuid::new_v4().as_bytes()[0]) / 255.0;
    pause.mul_f64(0.5 + chance / 2.0)
}
