//! The encryption key of this store, compared with the one it was first opened with.

use super::connection::Connection;
use super::fault::Fault;
use super::text::Text;
use crate::key_check::{self, KeyCheck};

/// Remembers the key at its first use. Of several processes that come first, one decides.
pub(super) async fn check(db: &Connection, key: Option<&str>) -> Result<KeyCheck, Fault> {
    let checked = key_check::check(stored(db).await?.as_deref(), key);
    let KeyCheck::First(value) = &checked else { return Ok(checked) };
    db.query(
        "INSERT INTO meta (name, value) VALUES ('key_check', $1) ON CONFLICT (name) DO NOTHING",
        &[&Text(value)],
    )
    .await?;
    Ok(key_check::check(stored(db).await?.as_deref(), key))
}

async fn stored(db: &Connection) -> Result<Option<String>, Fault> {
    let row = db.query_opt("SELECT value FROM meta WHERE name = 'key_check'", &[]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}
