//! The schema, as steps that are each applied once. Any number of processes may start at the same time: a lock lets one
//! of them go first, and the others find its work done.

use super::connection::Connection;
use super::fault::Fault;
use super::text::Text;

/// In order; a step that was published is never changed, only followed by another.
const STEPS: [&str; 3] = [
    include_str!("../../../../migrations/postgres/0001_sessions_turns_logs.sql"),
    include_str!("../../../../migrations/postgres/0002_long_running.sql"),
    include_str!("../../../../migrations/postgres/0003_agents.sql"),
];

/// The number that the last step leads to.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Held while the schema is looked at and changed. An arbitrary number that is this program's own.
const LOCK: i64 = 0x7069_6c6f_7468_6f75;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schema {
    UpToDate,
    Newer { found: i64, known: i64 },
}

/// Applies the steps that are missing, each in its own transaction with the number it leads to.
pub(super) async fn bring_up_to_date(db: &Connection) -> Result<Schema, Fault> {
    let known = VERSION;
    loop {
        // Another process may be at it, and a step over much data takes longer than a call.
        db.batch("BEGIN; SET LOCAL lock_timeout = '50s'; SET LOCAL statement_timeout = '55s';")
            .await?;
        db.query("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        db.batch("CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value text NOT NULL)")
            .await?;
        let found = version(db).await?;
        if found >= known {
            db.batch("COMMIT").await?;
            return Ok(if found > known {
                Schema::Newer { found, known }
            } else {
                Schema::UpToDate
            });
        }
        db.batch(STEPS[found as usize]).await?;
        let number = (found + 1).to_string();
        db.query(
            "INSERT INTO meta (name, value) VALUES ('schema', $1)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            &[&Text(&number)],
        )
        .await?;
        db.batch("COMMIT").await?;
    }
}

async fn version(db: &Connection) -> Result<i64, Fault> {
    let row = db.query_opt("SELECT value FROM meta WHERE name = 'schema'", &[]).await?;
    let Some(row) = row else { return Ok(0) };
    let value: String = row.try_get(0)?;
    match value.parse() {
        Ok(number) if number >= 0 => Ok(number),
        _ => Err(Fault::broken("the number of its schema cannot be read")),
    }
}
