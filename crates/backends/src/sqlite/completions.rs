//! Completion messages of operations: a table, so that another program can insert one with plain SQL.

use std::time::Duration;

use async_trait::async_trait;
use ports::completions::{CompletionMessage, Completions, SettleCompletion};
use ports::{PortError, PortResult};
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::boot_clock::millis;
use super::error::SqliteError;
use super::write_job::{WriteOutput, WritePriority};
use super::writer::StoreWriter;

/// Poll interval, because other programs write to the table.
const POLL: Duration = Duration::from_millis(500);
/// How long a message may stay unacknowledged before it is delivered again.
const REDELIVER_AFTER: Duration = Duration::from_secs(60);

const UNCLAIMED: &str = "out_until_ms IS NULL OR out_until_ms <= ?1";

#[async_trait]
impl Completions for SqliteStore {
    async fn send(&self, body: String) -> PortResult<()> {
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                db.prepare_cached("INSERT INTO completion (body) VALUES (?1)")?.execute([&body])?;
                Ok(WriteOutput::silent(()))
            })
            .await?;
        if !self.live.deaf {
            self.sent.notify_one();
        }
        Ok(())
    }

    async fn next(&self) -> PortResult<CompletionMessage> {
        loop {
            let woken = self.sent.notified();
            tokio::pin!(woken);
            // Listens before it looks, so that no message is missed in between.
            woken.as_mut().enable();
            if let Some(found) = self.take(self.boot.ms()).await? {
                let in_hand = UnsettledCompletion { id: found.id, writer: self.writer.clone() };
                return Ok(CompletionMessage::new(found.body, Box::new(in_hand)));
            }
            let _ = tokio::time::timeout(POLL, woken).await;
        }
    }
}

impl SqliteStore {
    async fn take(&self, now: i64) -> PortResult<Option<CompletionRow>> {
        // A reader checks first, so that waiting does not occupy the writer.
        if !self.readers.run(move |db| any(db, now)).await? {
            return Ok(None);
        }
        // Essential: it completes accepted work.
        self.writer
            .run(WritePriority::Essential, move |db| take(db, now).map(WriteOutput::silent))
            .await
    }
}

struct CompletionRow {
    id: i64,
    body: String,
}

fn any(db: &Connection, now: i64) -> Result<bool, SqliteError> {
    let mut select = db.prepare_cached(&format!("SELECT 1 FROM completion WHERE {UNCLAIMED}"))?;
    Ok(select.exists([now])?)
}

/// Takes the oldest message that is not being processed.
fn take(db: &Connection, now: i64) -> Result<Option<CompletionRow>, SqliteError> {
    let found = db
        .prepare_cached(&format!(
            "UPDATE completion SET out_until_ms = ?2
             WHERE id = (SELECT min(id) FROM completion WHERE {UNCLAIMED}) RETURNING id, body"
        ))?
        .query_row(params![now, now + millis(REDELIVER_AFTER)], |row| {
            Ok(CompletionRow { id: row.get("id")?, body: row.get("body")? })
        })
        .optional()?;
    Ok(found)
}

struct UnsettledCompletion {
    id: i64,
    writer: StoreWriter,
}

#[async_trait]
impl SettleCompletion for UnsettledCompletion {
    async fn ack(&self) -> Result<(), PortError> {
        let id = self.id;
        // Essential: it frees space.
        self.writer
            .run(WritePriority::Essential, move |db| {
                db.prepare_cached("DELETE FROM completion WHERE id = ?1")?.execute([id])?;
                Ok(WriteOutput::silent(()))
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn an_unacknowledged_message_is_delivered_again_after_a_minute() {
        let db = Connection::open_in_memory().expect("a database");
        schema::bring_up_to_date(&db).expect("the tables");
        db.execute("INSERT INTO completion (body) VALUES ('hello')", []).expect("a message");
        let take_at = |now| take(&db, now).expect("take").map(|found| found.body);
        assert_eq!(take_at(5).as_deref(), Some("hello"));
        assert_eq!(take_at(4 + millis(REDELIVER_AFTER)), None);
        assert_eq!(take_at(5 + millis(REDELIVER_AFTER)).as_deref(), Some("hello"));
    }
}
