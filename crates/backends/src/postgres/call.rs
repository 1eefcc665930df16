//! How every call runs: bounded in time, and a write to its end even when nobody waits for it any more.

use std::future::Future;
use std::time::Duration;

use ports::{PortError, PortResult};

use super::Postgres;
use super::connection::Connection;
use super::fault::Fault;

/// The most a call may take. Beyond it nobody knows whether it took effect.
pub(super) const CALL: Duration = Duration::from_secs(2);

impl Postgres {
    /// Runs a transaction or a statement that changes something. A caller that goes away, such as a client that hangs
    /// up, must not undo what it has asked for half-way, so the work runs in a task of its own.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Fault>> + Send + 'static,
    ) -> PortResult<T> {
        if self.closing.is_cancelled() {
            return Err(PortError::Closed);
        }
        match self.tasks.spawn(bounded(work)).await {
            Ok(done) => Ok(done?),
            Err(_) => Err(PortError::Broken("a write to the database panicked".to_owned())),
        }
    }

    /// Runs a read, and once more on another connection when the first one turns out to be dead.
    pub(super) async fn read<T, F>(&self, look: impl Fn(Connection) -> F) -> PortResult<T>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let reading = async {
            match look(Connection::get(&self.pool).await?).await {
                Err(fault) if fault.is_lost_connection() => {
                    look(Connection::get(&self.pool).await?).await
                }
                read => read,
            }
        };
        Ok(bounded(reading).await?)
    }
}

pub(super) async fn bounded<T>(work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    tokio::time::timeout(CALL, work).await.unwrap_or(Err(Fault::Late))
}
