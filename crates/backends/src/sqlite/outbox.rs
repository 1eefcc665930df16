//! Turns to push to the queue. Kept in a column of the turn itself, so that every change of a turn updates it.

use std::time::Duration;

use async_trait::async_trait;
use ports::{Outbox, PortResult};
use protocol::TurnId;
use rusqlite::{Connection, params};

use super::boot_clock::millis;
use super::error::SqliteError;
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, rows};

/// Turns that are due at `?1`, and since when: those that wait for a worker, and those whose lease has expired.
const DUE: &str = "\
    SELECT id, due_ms AS since FROM turn
    WHERE status = 'queued' AND due_ms IS NOT NULL AND due_ms <= ?1
    UNION ALL
    SELECT id, max(lease_until_ms, ifnull(due_ms, 0)) AS since FROM turn
    WHERE status = 'running' AND lease_until_ms <= ?1 AND ifnull(due_ms, 0) <= ?1";

#[async_trait]
impl Outbox for SqliteStore {
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<TurnId>> {
        let now = self.boot.ms();
        let turns = self.readers.run(move |db| due(db, now, limit)).await?;
        if !turns.is_empty() && !hold.is_zero() {
            // There is one relay in the only process, so nothing changed in between.
            self.pushed(&turns, hold).await?;
        }
        Ok(turns)
    }

    async fn pushed(&self, turns: &[TurnId], again_in: Duration) -> PortResult<()> {
        let (turns, now) = (turns.to_vec(), self.boot.ms());
        let again = now + millis(again_in);
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                // A turn that was claimed or ended meanwhile has left the outbox and stays out. The time of a resting
                // turn is not changed, even when it is over: a claim has to see it.
                let mut update = db.prepare_cached(
                    "UPDATE turn SET due_ms = ?2 WHERE id = ?1 AND (
                         status = 'queued' AND due_ms IS NOT NULL AND rests = 0
                         OR status = 'running' AND lease_until_ms <= ?3)",
                )?;
                for turn in &turns {
                    update.execute(params![turn.as_str(), again, now])?;
                }
                Ok(WriteOutput::silent(()))
            })
            .await
    }

    async fn lag(&self) -> PortResult<(u64, Duration)> {
        let now = self.boot.ms();
        self.readers
            .run(move |db| {
                let (count, since): (i64, Option<i64>) = db
                    .prepare_cached(&format!("SELECT count(*), min(since) FROM ({DUE})"))?
                    .query_row([now], |row| Ok((row.get(0)?, row.get(1)?)))?;
                let waited = since.map_or(0, |since| (now - since).max(0));
                Ok((count as u64, Duration::from_millis(waited as u64)))
            })
            .await
    }
}

fn due(db: &Connection, now: i64, limit: u32) -> Result<Vec<TurnId>, SqliteError> {
    let turns = db
        .prepare_cached(&format!("{DUE} ORDER BY since LIMIT ?2"))?
        .query_map(params![now, limit], |row| rows::id(row, "id"))?
        .collect::<Result<_, _>>()?;
    Ok(turns)
}
