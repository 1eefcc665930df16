//! Messages that say what an operation came to: a table, so that another program can leave one with plain SQL.

use std::time::Duration;

use async_trait::async_trait;
use ports::completions::{CompletionMessage, Completions, SettleCompletion};
use ports::{PortError, PortResult};
use rusqlite::{Connection, OptionalExtension, params};

use super::Sqlite;
use super::boot::millis;
use super::fault::Fault;
use super::job::{Done, Need};
use super::writer::Writer;

/// How often a table that others write to is looked at.
const POLL: Duration = Duration::from_millis(500);
/// How long a message may be in hand before it is given to somebody else.
const OUT: Duration = Duration::from_secs(60);

const FREE: &str = "out_until_ms IS NULL OR out_until_ms <= ?1";

#[async_trait]
impl Completions for Sqlite {
    async fn send(&self, body: String) -> PortResult<()> {
        self.writer
            .run(Need::Ordinary, move |db| {
                db.prepare_cached("INSERT INTO completion (body) VALUES (?1)")?.execute([&body])?;
                Ok(Done::quietly(()))
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
            // Listening begins before the look, so that nothing falls between the two.
            woken.as_mut().enable();
            if let Some(found) = self.take(self.boot.ms()).await? {
                let in_hand = InHand { id: found.id, writer: self.writer.clone() };
                return Ok(CompletionMessage::new(found.body, Box::new(in_hand)));
            }
            let _ = tokio::time::timeout(POLL, woken).await;
        }
    }
}

impl Sqlite {
    async fn take(&self, now: i64) -> PortResult<Option<Found>> {
        // Looked for by a reader first: waiting must not keep the writer busy.
        if !self.readers.run(move |db| any(db, now)).await? {
            return Ok(None);
        }
        // Essential: it ends what was accepted.
        self.writer.run(Need::Essential, move |db| take(db, now).map(Done::quietly)).await
    }
}

struct Found {
    id: i64,
    body: String,
}

fn any(db: &Connection, now: i64) -> Result<bool, Fault> {
    let mut select = db.prepare_cached(&format!("SELECT 1 FROM completion WHERE {FREE}"))?;
    Ok(select.exists([now])?)
}

/// The oldest that nobody has in hand.
fn take(db: &Connection, now: i64) -> Result<Option<Found>, Fault> {
    let found = db
        .prepare_cached(&format!(
            "UPDATE completion SET out_until_ms = ?2
             WHERE id = (SELECT min(id) FROM completion WHERE {FREE}) RETURNING id, body"
        ))?
        .query_row(params![now, now + millis(OUT)], |row| {
            Ok(Found { id: row.get("id")?, body: row.get("body")? })
        })
        .optional()?;
    Ok(found)
}

struct InHand {
    id: i64,
    writer: Writer,
}

#[async_trait]
impl SettleCompletion for InHand {
    async fn ack(&self) -> Result<(), PortError> {
        let id = self.id;
        // Essential: it makes room.
        self.writer
            .run(Need::Essential, move |db| {
                db.prepare_cached("DELETE FROM completion WHERE id = ?1")?.execute([id])?;
                Ok(Done::quietly(()))
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    #[test]
    fn a_message_is_out_for_a_minute_and_then_comes_back() {
        let db = Connection::open_in_memory().expect("a database");
        schema::bring_up_to_date(&db).expect("the tables");
        db.execute("INSERT INTO completion (body) VALUES ('hello')", []).expect("a message");
        let taken = |now| take(&db, now).expect("take").map(|found| found.body);
        assert_eq!(taken(5).as_deref(), Some("hello"));
        assert_eq!(taken(4 + millis(OUT)), None);
        assert_eq!(taken(5 + millis(OUT)).as_deref(), Some("hello"));
    }
}
