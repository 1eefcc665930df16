//! Runs of blocks by themselves: begun once, ended once, paid with their end.

use async_trait::async_trait;
use ports::store::{BlockOutcome, BlockRunBegun, BlockRuns, NewBlockRun};
use ports::{PortError, PortResult};
use protocol::credit::CreditCharge;
use protocol::{SessionId, UserId};
use rusqlite::{Connection, Row, params};

use super::fault::Fault;
use super::job::{Done, Need};
use super::{Moment, Sqlite, credits, rows};

#[async_trait]
impl BlockRuns for Sqlite {
    async fn begin(&self, new: &NewBlockRun) -> PortResult<BlockRunBegun> {
        let (new, now) = (new.clone(), self.moment());
        self.writer.run(Need::Ordinary, move |db| begin(db, now, &new)).await
    }

    async fn end(
        &self,
        user: &UserId,
        key: &str,
        outcome: &BlockOutcome,
        charge: Option<&CreditCharge>,
    ) -> PortResult<bool> {
        let outputs = serde_json::to_string(&outcome.outputs)
            .map_err(|error| PortError::Broken(error.to_string()))?;
        let (user, key, now) = (user.clone(), key.to_owned(), self.moment());
        let (error, charge) = (outcome.error.clone(), charge.cloned());
        self.writer
            .run(Need::Essential, move |db| {
                let ended = db
                    .prepare_cached(
                        "UPDATE block_run SET outputs = ?3, error = ?4, ended_at = ?5
                         WHERE user_id = ?1 AND key = ?2 AND outputs IS NULL",
                    )?
                    .execute(params![user.as_str(), key, outputs, error, now.wall_us])?;
                if let (1, Some(charge)) = (ended, &charge) {
                    credits::charge(db, now, &user, charge)?;
                }
                Ok(Done::quietly(ended > 0))
            })
            .await
    }
}

fn begin(db: &Connection, now: Moment, new: &NewBlockRun) -> Result<Done<BlockRunBegun>, Fault> {
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
        return Ok(Done::quietly(BlockRunBegun::New));
    }
    let known = db
        .prepare_cached("SELECT outputs, error FROM block_run WHERE user_id = ?1 AND key = ?2")?
        .query_row([new.user_id.as_str(), &new.key], begun)?;
    Ok(Done::quietly(known))
}

fn begun(row: &Row<'_>) -> rusqlite::Result<BlockRunBegun> {
    Ok(match rows::optional_json(row, "outputs")? {
        None => BlockRunBegun::Open,
        Some(outputs) => BlockRunBegun::Ended(BlockOutcome { outputs, error: row.get("error")? }),
    })
}
