//! Health check: one write and one read.

use async_trait::async_trait;
use ports::{FailedDependency, HealthCheck, PortResult};

use std::time::Duration;

use super::SqliteStore;
use super::write_job::{WriteOutput, WritePriority};

/// A store that takes longer counts as failed.
const TIMEOUT: Duration = Duration::from_secs(2);

#[async_trait]
impl HealthCheck for SqliteStore {
    async fn failing(&self) -> Vec<FailedDependency> {
        let reason = match tokio::time::timeout(TIMEOUT, self.write_and_read()).await {
            Ok(Ok(())) => return Vec::new(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not respond".to_owned(),
        };
        vec![FailedDependency { name: "store", reason }]
    }
}

impl SqliteStore {
    async fn write_and_read(&self) -> PortResult<()> {
        self.writer
            .run(WritePriority::Ordinary, |db| {
                db.prepare_cached(
                    "INSERT INTO meta (name, value) VALUES ('health_checks', '1')
                     ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
                )?
                .execute([])?;
                Ok(WriteOutput::silent(()))
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
