//! The encryption key of this store, compared with the one it was first opened with.

use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use crate::key_check::{self, KeyCheck};

/// Remembers the key at its first use.
pub(crate) fn check(db: &Connection, key: Option<&str>) -> Result<KeyCheck, Fault> {
    let stored: Option<String> = db
        .query_row("SELECT value FROM meta WHERE name = 'key_check'", [], |row| row.get(0))
        .optional()?;
    let checked = key_check::check(stored.as_deref(), key);
    if let KeyCheck::First(value) = &checked {
        db.execute("INSERT INTO meta (name, value) VALUES ('key_check', ?1)", params![value])?;
    }
    Ok(checked)
}
