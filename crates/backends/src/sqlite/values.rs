//! Values that agents keep from one execution to the next.

use async_trait::async_trait;
use ports::{PortResult, Values};
use protocol::UserId;
use protocol::limits::VALUES;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::SqliteStore;
use super::error::SqliteError;
use super::write_job::{WriteOutput, WritePriority};
use crate::rows::StoreRow;

#[async_trait]
impl Values for SqliteStore {
    async fn get(&self, user: &UserId, key: &str) -> PortResult<Option<Value>> {
        let (user, key) = (user.clone(), key.to_owned());
        self.readers
            .run(move |db| {
                let found = db
                    .prepare_cached(
                        "SELECT value FROM agent_value WHERE user_id = ?1 AND key = ?2",
                    )?
                    .query_row([user.as_str(), &key], |row| row.json("value"))
                    .optional()?;
                Ok(found)
            })
            .await
    }

    async fn set(&self, user: &UserId, key: &str, value: &Value) -> PortResult<bool> {
        let (user, key, value) = (user.clone(), key.to_owned(), value.to_string());
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                let changed = db
                    .prepare_cached(
                        "UPDATE agent_value SET value = ?3 WHERE user_id = ?1 AND key = ?2",
                    )?
                    .execute([user.as_str(), &key, &value])?;
                if changed > 0 {
                    return Ok(WriteOutput::silent(true));
                }
                if is_full(db, &user)? {
                    return Ok(WriteOutput::silent(false));
                }
                db.prepare_cached(
                    "INSERT INTO agent_value (user_id, key, value) VALUES (?1, ?2, ?3)",
                )?
                .execute([user.as_str(), &key, &value])?;
                Ok(WriteOutput::silent(true))
            })
            .await
    }
}

fn is_full(db: &Connection, user: &UserId) -> Result<bool, SqliteError> {
    let full = db
        .prepare_cached("SELECT 1 FROM agent_value WHERE user_id = ?1 LIMIT 1 OFFSET ?2")?
        .exists(params![user.as_str(), VALUES - 1])?;
    Ok(full)
}
