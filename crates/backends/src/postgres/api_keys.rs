//! API keys of users, stored as digests.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{ApiKey, ApiKeys, NewApiKey};
use protocol::UserId;

use super::PostgresStore;
use super::connection::PooledConnection;
use super::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::api_keys::{api_key, api_key_columns};

#[async_trait]
impl ApiKeys for PostgresStore {
    async fn create(&self, user: &UserId, new: NewApiKey) -> PortResult<ApiKey> {
        let (pool, user, now) = (self.pool.clone(), user.clone(), self.wall_us());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let id = uuid::Uuid::now_v7().to_string();
            let row = db
                .query_one(
                    concat!(
                        "INSERT INTO api_key (id, user_id, name, digest, head, created_at)
                         VALUES ($1, $2, $3, $4, $5, $6) RETURNING ",
                        api_key_columns!()
                    ),
                    &[
                        &TextParam(&id),
                        &TextParam(user.as_str()),
                        &TextParam(&new.name),
                        &TextParam(&new.digest),
                        &TextParam(&new.head),
                        &now,
                    ],
                )
                .await?;
            api_key(&row)
        })
        .await
    }

    async fn list(&self, user: &UserId) -> PortResult<Vec<ApiKey>> {
        self.read(|db| async move {
            let found = db
                .query(
                    concat!(
                        "SELECT ",
                        api_key_columns!(),
                        " FROM api_key WHERE user_id = $1 ORDER BY created_at, created"
                    ),
                    &[&TextParam(user.as_str())],
                )
                .await?;
            found.iter().map(api_key).collect()
        })
        .await
    }

    async fn revoke(&self, user: &UserId, id: &str) -> PortResult<bool> {
        let (pool, user, id) = (self.pool.clone(), user.clone(), id.to_owned());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let removed = db
                .query_opt(
                    "DELETE FROM api_key WHERE user_id = $1 AND id = $2 RETURNING id",
                    &[&TextParam(user.as_str()), &TextParam(&id)],
                )
                .await?;
            Ok(removed.is_some())
        })
        .await
    }

    async fn find(&self, digest: &str) -> PortResult<Option<UserId>> {
        self.read(|db| async move {
            let row = db
                .query_opt("SELECT user_id FROM api_key WHERE digest = $1", &[&TextParam(digest)])
                .await?;
            row.map(|row| row.id("user_id")).transpose()
        })
        .await
    }
}
