//! Compares the encryption key with the one the store was first opened with.

use protocol::secret::SecretText;

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use crate::rules::key_check::{self, KeyCheck};

/// Stores the check value of the key at its first use. Of several processes that start at once, one stores it.
pub(crate) async fn check(
    db: &PooledConnection,
    key: Option<&SecretText>,
) -> Result<KeyCheck, PostgresError> {
    let checked = key_check::check(stored(db).await?.as_deref(), key);
    let KeyCheck::First(value) = &checked else { return Ok(checked) };
    db.query(
        "INSERT INTO meta (name, value) VALUES ('key_check', $1) ON CONFLICT (name) DO NOTHING",
        &[&TextParam(value)],
    )
    .await?;
    Ok(key_check::check(stored(db).await?.as_deref(), key))
}

async fn stored(db: &PooledConnection) -> Result<Option<String>, PostgresError> {
    let row = db.query_opt("SELECT value FROM meta WHERE name = 'key_check'", &[]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}
