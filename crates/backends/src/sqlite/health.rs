//! Whether the store takes a write and gives a read.

use async_trait::async_trait;
use ports::{Health, PortResult};

use super::Sqlite;
use super::job::{Done, Need};

#[async_trait]
impl Health for Sqlite {
    async fn check(&self) -> PortResult<()> {
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
