//! Executions of single blocks: started once, ended once, charged at their end.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{BlockOutcome, BlockRunBegun, BlockRuns, NewBlockRun};
use protocol::credit::CreditCharge;
use protocol::{SessionId, UserId};
use rusqlite::{Connection, params};

use super::error::SqliteError;
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, StoreTime, credits};
use crate::rows::block_runs::begun_before;
use crate::rules::json::to_json;

#[async_trait]
impl BlockRuns for SqliteStore {
    async fn begin(&self, new: &NewBlockRun) -> PortResult<BlockRunBegun> {
        let (new, now) = (new.clone(), self.store_time());
        self.writer.run(WritePriority::Ordinary, move |db| begin(db, now, &new)).await
    }

    async fn end(
        &self,
        user: &UserId,
        key: &str,
        outcome: &BlockOutcome,
        charge: Option<&CreditCharge>,
    ) -> PortResult<bool> {
        let outputs = to_json(&outcome.outputs)?;
        let (user, key, now) = (user.clone(), key.to_owned(), self.store_time());
        let (error, charge) = (outcome.error.clone(), charge.cloned());
        self.writer
            .run(WritePriority::Essential, move |db| {
                let ended = db
                    .prepare_cached(
                        "UPDATE block_run SET outputs = ?3, error = ?4, ended_at = ?5
                         WHERE user_id = ?1 AND key = ?2 AND outputs IS NULL",
                    )?
                    .execute(params![user.as_str(), key, outputs, error, now.wall_us])?;
                if let (1, Some(charge)) = (ended, &charge) {
                    credits::charge(db, now, &user, charge)?;
                }
                Ok(WriteOutput::silent(ended > 0))
            })
            .await
    }
}

fn begin(
    db: &Connection,
    now: StoreTime,
    new: &NewBlockRun,
) -> Result<WriteOutput<BlockRunBegun>, SqliteError> {
    let added = db
        .prepare_cached(
            "INSERT INTO block_run (user_id, key, block_id, session_id, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (user_id, key) DO NOTHING",
        )?
        .execute(params![
            new.user_id.as_str(),
            new.key,
            new.block_id.as_str(),
            new.session_id.as_ref().map(SessionId::as_str),
            now.wall_us,
        ])?;
    if added > 0 {
        return Ok(WriteOutput::silent(BlockRunBegun::New));
    }
    let existing = db
        .prepare_cached("SELECT outputs, error FROM block_run WHERE user_id = ?1 AND key = ?2")?
        .query_row([new.user_id.as_str(), &new.key], |row| begun_before(row))?;
    Ok(WriteOutput::silent(existing))
}
