//! API keys of users, stored as digests.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{ApiKey, ApiKeys, NewApiKey};
use protocol::UserId;
use rusqlite::{OptionalExtension, params};

use super::SqliteStore;
use super::write_job::{WriteOutput, WritePriority};
use crate::rows::StoreRow;
use crate::rows::api_keys::{api_key, api_key_columns};

#[async_trait]
impl ApiKeys for SqliteStore {
    async fn create(&self, user: &UserId, new: NewApiKey) -> PortResult<ApiKey> {
        let (user, now) = (user.clone(), self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                let key = db
                    .prepare_cached(concat!(
                        "INSERT INTO api_key (id, user_id, name, digest, head, created_at)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING ",
                        api_key_columns!()
                    ))?
                    .query_row(
                        params![
                            uuid::Uuid::now_v7().to_string(),
                            user.as_str(),
                            new.name,
                            new.digest,
                            new.head,
                            now.wall_us,
                        ],
                        |row| api_key(row),
                    )?;
                Ok(WriteOutput::silent(key))
            })
            .await
    }

    async fn list(&self, user: &UserId) -> PortResult<Vec<ApiKey>> {
        let user = user.clone();
        self.readers
            .run(move |db| {
                let keys = db
                    .prepare_cached(concat!(
                        "SELECT ",
                        api_key_columns!(),
                        " FROM api_key WHERE user_id = ?1 ORDER BY created_at, rowid"
                    ))?
                    .query_map([user.as_str()], |row| api_key(row))?
                    .collect::<Result<_, _>>()?;
                Ok(keys)
            })
            .await
    }

    async fn revoke(&self, user: &UserId, id: &str) -> PortResult<bool> {
        let (user, id) = (user.clone(), id.to_owned());
        self.writer
            .run(WritePriority::Essential, move |db| {
                let removed = db
                    .prepare_cached("DELETE FROM api_key WHERE user_id = ?1 AND id = ?2")?
                    .execute([user.as_str(), id.as_str()])?;
                Ok(WriteOutput::silent(removed > 0))
            })
            .await
    }

    async fn find(&self, digest: &str) -> PortResult<Option<UserId>> {
        let digest = digest.to_owned();
        self.readers
            .run(move |db| {
                let user = db
                    .prepare_cached("SELECT user_id FROM api_key WHERE digest = ?1")?
                    .query_row([digest.as_str()], |row| row.id("user_id"))
                    .optional()?;
                Ok(user)
            })
            .await
    }
}
