//! Runs every call with a time limit. A write completes even when its caller stops waiting.

use std::future::Future;
use std::time::Duration;

use ports::{PortError, PortResult};

use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;

/// Time limit of a call. When it is exceeded, the outcome is unknown.
pub(crate) const CALL: Duration = Duration::from_secs(2);

impl PostgresStore {
    /// Runs a transaction or statement that changes something, in its own task: a caller that goes away, such as a
    /// client that disconnects, must not abort it half-way.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, PostgresError>> + Send + 'static,
    ) -> PortResult<T> {
        if self.closing.is_cancelled() {
            return Err(PortError::Closed);
        }
        match self.tasks.spawn(bounded(work)).await {
            Ok(done) => Ok(done?),
            Err(_) => Err(PortError::Broken("a write to the database panicked".to_owned())),
        }
    }

    /// Runs a read, and retries it once on another connection when the first one is dead.
    pub(crate) async fn read<T, F>(&self, look: impl Fn(PooledConnection) -> F) -> PortResult<T>
    where
        F: Future<Output = Result<T, PostgresError>>,
    {
        let reading = async {
            match look(PooledConnection::get(&self.pool).await?).await {
                Err(fault) if fault.is_lost_connection() => {
                    look(PooledConnection::get(&self.pool).await?).await
                }
                read => read,
            }
        };
        Ok(bounded(reading).await?)
    }
}

pub(crate) async fn bounded<T>(
    work: impl Future<Output = Result<T, PostgresError>>,
) -> Result<T, PostgresError> {
    tokio::time::timeout(CALL, work).await.unwrap_or(Err(PostgresError::Late))
}
