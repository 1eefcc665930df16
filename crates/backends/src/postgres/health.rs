//! Whether the database takes a write and gives a read.

use ports::{FailedDependency, PortError};

use super::Postgres;
use super::call::bounded;
use super::connection::Connection;

impl Postgres {
    /// `None` when it works. Answers within the bound of a call.
    pub(crate) async fn failing(&self) -> Option<FailedDependency> {
        let tried = bounded(async {
            let db = Connection::get(&self.pool).await?;
            // The value is read back by the same statement; a standby or a full disk refuses it.
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
