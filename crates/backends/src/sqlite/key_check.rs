//! Refuses to go on with another encryption key than the one a store was first opened with. Only a
//! salted digest is kept, from which the key cannot be read.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::fault::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyCheck {
    Right,
    Wrong,
    Missing,
}

/// Remembers the key at its first use.
pub(crate) fn check(db: &Connection, key: Option<&str>) -> Result<KeyCheck, Fault> {
    let stored: Option<String> = db
        .query_row("SELECT value FROM meta WHERE name = 'key_check'", [], |row| row.get(0))
        .optional()?;
    Ok(match (stored, key) {
        (None, None) => KeyCheck::Right,
        (Some(_), None) => KeyCheck::Missing,
        (Some(stored), Some(key)) => match stored.split_once(':') {
            Some((salt, digest)) if digest == digest_of(salt, key) => KeyCheck::Right,
            _ => KeyCheck::Wrong,
        },
        (None, Some(key)) => {
            let salt = uuid::Uuid::new_v4().simple().to_string();
            let value = format!("{salt}:{}", digest_of(&salt, key));
            db.execute("INSERT INTO meta (name, value) VALUES ('key_check', ?1)", params![value])?;
            KeyCheck::Right
        }
    })
}

fn digest_of(salt: &str, key: &str) -> String {
    let digest = Sha256::digest(format!("pilothouse key check\n{salt}\n{key}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
