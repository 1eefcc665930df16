//! Whether the store takes a write and gives a read.

use async_trait::async_trait;
use ports::{FailedDependency, HealthCheck, PortResult};

use std::time::Duration;

use super::Sqlite;
use super::job::{Done, Need};

/// A store that has not answered by then is not there.
const PATIENCE: Duration = Duration::from_secs(2);

#[async_trait]
impl HealthCheck for Sqlite {
    async fn failing(&self) -> Vec<FailedDependency> {
        let reason = match tokio::time::timeout(PATIENCE, self.try_out()).await {
            Ok(Ok(())) => return Vec::new(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not answer".to_owned(),
        };
        vec![FailedDependency { name: "store", reason }]
    }
}

impl Sqlite {
    async fn try_out(&self) -> PortResult<()> {
        self.writer
            .run(Need::Ordinary, |db| {
                db.prepare_cached(
                    "INSERT INTO meta (name, value) VALUES ('health_checks', '1')
                     ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
                )?
                .execute([])?;
                Ok(Done::quietly(()))
            })
            .await?;
        self.readers
            .run(|db| {
                db.prepare_cached("SELECT 1 FROM meta WHERE name = 'health_checks'")?.exists([])?;
                Ok(())
            })
            .await
    }
}
