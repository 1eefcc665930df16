//! Health check: one write and one read.

use ports::{FailedDependency, PortError};

use super::PostgresStore;
use super::bounded_call::bounded;
use super::connection::PooledConnection;

impl PostgresStore {
    /// `None` when it works. Returns within the time limit of a call.
    pub(crate) async fn failing(&self) -> Option<FailedDependency> {
        let tried = bounded(async {
            let db = PooledConnection::get(&self.pool).await?;
            // The same statement reads the value back; a standby or a full disk refuses it.
            db.query_one(
                "INSERT INTO meta (name, value) VALUES ('health_checks', '1')
                 ON CONFLICT (name) DO UPDATE SET value = (meta.value::bigint + 1)::text
                 RETURNING value",
                &[],
            )
            .await
        });
        let fault = tried.await.err()?;
        Some(FailedDependency { name: "postgres", reason: PortError::from(fault).to_string() })
    }
}
