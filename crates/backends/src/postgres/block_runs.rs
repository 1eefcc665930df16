//! Executions of single blocks, each started once and ended once, with its charge.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{BlockOutcome, BlockRunBegun, BlockRuns, NewBlockRun};
use protocol::credit::CreditCharge;
use protocol::{SessionId, UserId};

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::{TextParam, optional};
use super::{PostgresStore, credits};
use crate::rows::block_runs::begun_before;
use crate::rules::json::to_json;

#[async_trait]
impl BlockRuns for PostgresStore {
    async fn begin(&self, new: &NewBlockRun) -> PortResult<BlockRunBegun> {
        let (store, new) = (self.clone(), new.clone());
        self.write(async move {
            let db = PooledConnection::get(&store.pool).await?;
            begin(&db, &new, store.wall_us()).await
        })
        .await
    }

    async fn end(
        &self,
        user: &UserId,
        key: &str,
        outcome: &BlockOutcome,
        charge: Option<&CreditCharge>,
    ) -> PortResult<bool> {
        let (store, user, key) = (self.clone(), user.clone(), key.to_owned());
        let (outcome, charge) = (outcome.clone(), charge.cloned());
        self.write(async move {
            let db = PooledConnection::begin(&store.pool).await?;
            let ended = end(&db, &user, &key, &outcome, store.wall_us()).await?;
            if let Some(charge) = charge.filter(|_| ended) {
                credits::charge(&db, &user, &[charge], store.wall_us()).await?;
            }
            db.commit().await?;
            Ok(ended)
        })
        .await
    }
}

async fn begin(
    db: &PooledConnection,
    new: &NewBlockRun,
    wall_us: i64,
) -> Result<BlockRunBegun, PostgresError> {
    let (user, key) = (TextParam(new.user_id.as_str()), TextParam(&new.key));
    let begun = db
        .query_opt(
            "INSERT INTO block_run (user_id, key, block_id, session_id, created_at)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id, key) DO NOTHING RETURNING key",
            &[
                &user,
                &key,
                &TextParam(new.block_id.as_str()),
                &optional(new.session_id.as_ref().map(SessionId::as_str)),
                &wall_us,
            ],
        )
        .await?;
    if begun.is_some() {
        return Ok(BlockRunBegun::New);
    }
    let before = db
        .query_one(
            "SELECT outputs, error FROM block_run WHERE user_id = $1 AND key = $2",
            &[&user, &key],
        )
        .await?;
    begun_before(&before)
}

async fn end(
    db: &PooledConnection,
    user: &UserId,
    key: &str,
    outcome: &BlockOutcome,
    wall_us: i64,
) -> Result<bool, PostgresError> {
    let outputs = to_json(&outcome.outputs)?;
    let ended = db
        .query_opt(
            "UPDATE block_run SET outputs = $3, error = $4, ended_at = $5
             WHERE user_id = $1 AND key = $2 AND outputs IS NULL RETURNING key",
            &[
                &TextParam(user.as_str()),
                &TextParam(key),
                &TextParam(&outputs),
                &optional(outcome.error.as_deref()),
                &wall_us,
            ],
        )
        .await?;
    Ok(ended.is_some())
}
