//! What agents remember from run to run.

use async_trait::async_trait;
use ports::{PortResult, Values};
use protocol::{UserId, limits};
use serde_json::Value;

use super::connection::Connection;
use super::fault::Fault;
use super::json::written;
use super::text::Text;
use super::turns::slots;
use super::{Postgres, rows};

#[async_trait]
impl Values for Postgres {
    async fn get(&self, user: &UserId, key: &str) -> PortResult<Option<Value>> {
        self.read(|db| async move {
            let row = db
                .query_opt(
                    "SELECT value FROM agent_value WHERE user_id = $1 AND key = $2",
                    &[&Text(user.as_str()), &Text(key)],
                )
                .await?;
            row.map(|row| rows::json(&row, "value")).transpose()
        })
        .await
    }

    async fn set(&self, user: &UserId, key: &str, value: &Value) -> PortResult<bool> {
        let (store, user, key) = (self.clone(), user.clone(), key.to_owned());
        let value = written(value)?;
        self.write(async move {
            // Most are there already, and to change one nobody has to count.
            let db = Connection::get(&store.pool).await?;
            if change(&db, &user, &key, &value).await? {
                return Ok(true);
            }
            drop(db);
            let db = Connection::begin(&store.pool).await?;
            let kept = add(&db, &user, &key, &value).await?;
            db.commit().await?;
            Ok(kept)
        })
        .await
    }
}

async fn change(db: &Connection, user: &UserId, key: &str, value: &str) -> Result<bool, Fault> {
    let changed = db
        .query_opt(
            "UPDATE agent_value SET value = $3 WHERE user_id = $1 AND key = $2 RETURNING key",
            &[&Text(user.as_str()), &Text(key), &Text(value)],
        )
        .await?;
    Ok(changed.is_some())
}

/// Under a lock, so that the count is exact. Another may have added the same one a moment ago.
async fn add(db: &Connection, user: &UserId, key: &str, value: &str) -> Result<bool, Fault> {
    slots::lock(db, &format!("values:{user}")).await?;
    let added = db
        .query_opt(
            "INSERT INTO agent_value (user_id, key, value)
             SELECT $1, $2, $3
             WHERE (SELECT count(*) FROM agent_value WHERE user_id = $1) < $4
                OR EXISTS (SELECT 1 FROM agent_value WHERE user_id = $1 AND key = $2)
             ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value
             RETURNING key",
            &[&Text(user.as_str()), &Text(key), &Text(value), &i64::from(limits::VALUES)],
        )
        .await?;
    Ok(added.is_some())
}
