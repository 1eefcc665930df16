//! Compares the encryption key with the one the store was first opened with.

use protocol::secret::SecretText;
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;
use crate::rules::key_check::{self, KeyCheck};

/// Stores the check value of the key at its first use.
pub(crate) fn check(db: &Connection, key: Option<&SecretText>) -> Result<KeyCheck, SqliteError> {
    let stored: Option<String> = db
        .query_row("SELECT value FROM meta WHERE name = 'key_check'", [], |row| row.get(0))
        .optional()?;
    let checked = key_check::check(stored.as_deref(), key);
    if let KeyCheck::First(value) = &checked {
        db.execute("INSERT INTO meta (name, value) VALUES ('key_check', ?1)", params![value])?;
    }
    Ok(checked)
}
