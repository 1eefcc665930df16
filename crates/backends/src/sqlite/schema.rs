//! The schema, as numbered migrations that are each applied once.

use rusqlite::Connection;

use super::error::SqliteError;
use crate::rules::schema_status::SchemaStatus;

const STEPS: &[&str] = &[
    include_str!("../../../../migrations/sqlite/0001_sessions_turns_logs.sql"),
    include_str!("../../../../migrations/sqlite/0002_places.sql"),
    include_str!("../../../../migrations/sqlite/0003_long_running.sql"),
    include_str!("../../../../migrations/sqlite/0004_agents.sql"),
];

/// `PRAGMA user_version` after the last migration.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Applies the missing migrations, each in its own transaction with its number.
pub(crate) fn bring_up_to_date(db: &Connection) -> Result<SchemaStatus, SqliteError> {
    let known = VERSION;
    let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > known {
        return Ok(SchemaStatus::Newer { found, known });
    }
    for (number, step) in (1i64..).zip(STEPS).filter(|(number, _)| *number > found) {
        let applied = db.execute_batch(&format!(
            "BEGIN IMMEDIATE; {step} PRAGMA user_version = {number}; COMMIT;"
        ));
        if applied.is_err() && !db.is_autocommit() {
            db.execute_batch("ROLLBACK")?;
        }
        applied?;
    }
    Ok(SchemaStatus::UpToDate)
}
