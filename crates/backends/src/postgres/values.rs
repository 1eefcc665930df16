//! Values that agents keep from one execution to the next.

use async_trait::async_trait;
use ports::{PortResult, Values};
use protocol::{UserId, limits};
use serde_json::Value;

use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::turns::advisory_locks;
use crate::rows::StoreRow;
use crate::rules::json::to_json;

#[async_trait]
impl Values for PostgresStore {
    async fn get(&self, user: &UserId, key: &str) -> PortResult<Option<Value>> {
        self.read(|db| async move {
            let row = db
                .query_opt(
                    "SELECT value FROM agent_value WHERE user_id = $1 AND key = $2",
                    &[&TextParam(user.as_str()), &TextParam(key)],
                )
                .await?;
            row.map(|row| row.json("value")).transpose()
        })
        .await
    }

    async fn set(&self, user: &UserId, key: &str, value: &Value) -> PortResult<bool> {
        let (store, user, key) = (self.clone(), user.clone(), key.to_owned());
        let value = to_json(value)?;
        self.write(async move {
            // Most values exist already, and changing one needs no count.
            let db = PooledConnection::get(&store.pool).await?;
            if change(&db, &user, &key, &value).await? {
                return Ok(true);
            }
            drop(db);
            let db = PooledConnection::begin(&store.pool).await?;
            let kept = add(&db, &user, &key, &value).await?;
            db.commit().await?;
            Ok(kept)
        })
        .await
    }
}

async fn change(
    db: &PooledConnection,
    user: &UserId,
    key: &str,
    value: &str,
) -> Result<bool, PostgresError> {
    let changed = db
        .query_opt(
            "UPDATE agent_value SET value = $3 WHERE user_id = $1 AND key = $2 RETURNING key",
            &[&TextParam(user.as_str()), &TextParam(key), &TextParam(value)],
        )
        .await?;
    Ok(changed.is_some())
}

/// Adds the value under a lock, so that the count is exact. Another call may have added the same key meanwhile.
async fn add(
    db: &PooledConnection,
    user: &UserId,
    key: &str,
    value: &str,
) -> Result<bool, PostgresError> {
    advisory_locks::lock(db, &format!("values:{user}")).await?;
    let added = db
        .query_opt(
            "INSERT INTO agent_value (user_id, key, value)
             SELECT $1, $2, $3
             WHERE (SELECT count(*) FROM agent_value WHERE user_id = $1) < $4
                OR EXISTS (SELECT 1 FROM agent_value WHERE user_id = $1 AND key = $2)
             ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value
             RETURNING key",
            &[
                &TextParam(user.as_str()),
                &TextParam(key),
                &TextParam(value),
                &i64::from(limits::VALUES),
            ],
        )
        .await?;
    Ok(added.is_some())
}
