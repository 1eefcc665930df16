//! State of the broker connection: up with a connection, down with a reason, or closed for good.

use std::sync::Arc;

use ports::{PortError, PortResult};
use protocol::Job;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::BrokerConnection;
use super::fault::unavailable;

pub(crate) struct ConnectionState {
    current: watch::Sender<BrokerState>,
    /// Cancelled when the program closes the broker connection.
    pub(crate) closing: CancellationToken,
    /// All background tasks of this connection.
    pub(crate) tasks: TaskTracker,
}

enum BrokerState {
    Up(Arc<BrokerConnection>),
    Down(String),
    Closed,
}

impl ConnectionState {
    pub(crate) fn new(connection: Arc<BrokerConnection>) -> Self {
        Self {
            current: watch::Sender::new(BrokerState::Up(connection)),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    pub(crate) fn set_up(&self, connection: Arc<BrokerConnection>) {
        self.change(BrokerState::Up(connection));
    }

    pub(crate) fn set_down(&self, reason: String) {
        self.change(BrokerState::Down(reason));
    }

    /// Closed is final: the supervisor cannot change it.
    fn change(&self, next: BrokerState) {
        self.current.send_if_modified(|state| {
            let open = !matches!(state, BrokerState::Closed);
            if open {
                *state = next;
            }
            open
        });
    }

    pub(crate) fn close(&self) {
        self.closing.cancel();
        self.current.send_replace(BrokerState::Closed);
    }

    /// The connection, or the reason why there is none. Does not wait.
    pub(crate) fn connection(&self) -> PortResult<Arc<BrokerConnection>> {
        match &*self.current.borrow() {
            BrokerState::Up(connection) if !connection.failed.is_cancelled() => {
                Ok(connection.clone())
            }
            BrokerState::Up(_) => Err(unavailable("the connection was lost")),
            BrokerState::Down(reason) => Err(unavailable(reason.clone())),
            BrokerState::Closed => Err(PortError::Closed),
        }
    }

    /// Waits without a time limit until there is a connection.
    pub(crate) async fn next_connection(&self) -> PortResult<Arc<BrokerConnection>> {
        let mut state = self.current.subscribe();
        loop {
            match self.connection() {
                Err(PortError::Unavailable(_)) => {}
                decided => return decided,
            }
            // The supervisor replaces every failed connection, so another change always follows.
            if state.changed().await.is_err() {
                return Err(PortError::Closed);
            }
        }
    }

    pub(crate) async fn publish(&self, job: &Job) -> PortResult<()> {
        self.connection()?.publish(job).await
    }
}
