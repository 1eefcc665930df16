//! The schema, as numbered migrations that are each applied once. Any number of processes may start at the same time:
//! a lock lets one of them migrate, and the others find it done.

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use crate::rules::schema_status::SchemaStatus;

/// In order; a published migration is never changed, only followed by another.
const STEPS: [&str; 3] = [
    include_str!("../../../../migrations/postgres/0001_sessions_turns_logs.sql"),
    include_str!("../../../../migrations/postgres/0002_long_running.sql"),
    include_str!("../../../../migrations/postgres/0003_agents.sql"),
];

/// Version of the schema after the last migration.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Key of the advisory lock held while the schema is checked and migrated; an arbitrary number.
const LOCK: i64 = 0x7069_6c6f_7468_6f75;

/// Applies the missing migrations, each in its own transaction with its number.
pub(crate) async fn bring_up_to_date(db: &PooledConnection) -> Result<SchemaStatus, PostgresError> {
    let known = VERSION;
    loop {
        // Another process may be migrating, and a migration over much data takes longer than a call.
        db.batch("BEGIN; SET LOCAL lock_timeout = '50s'; SET LOCAL statement_timeout = '55s';")
            .await?;
        db.query("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        db.batch("CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value text NOT NULL)")
            .await?;
        let found = version(db).await?;
        if found >= known {
            db.batch("COMMIT").await?;
            return Ok(if found > known {
                SchemaStatus::Newer { found, known }
            } else {
                SchemaStatus::UpToDate
            });
        }
        db.batch(STEPS[found as usize]).await?;
        let number = (found + 1).to_string();
        db.query(
            "INSERT INTO meta (name, value) VALUES ('schema', $1)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            &[&TextParam(&number)],
        )
        .await?;
        db.batch("COMMIT").await?;
    }
}

async fn version(db: &PooledConnection) -> Result<i64, PostgresError> {
    let row = db.query_opt("SELECT value FROM meta WHERE name = 'schema'", &[]).await?;
    let Some(row) = row else { return Ok(0) };
    let value: String = row.try_get(0)?;
    match value.parse() {
        Ok(number) if number >= 0 => Ok(number),
        _ => Err(PostgresError::broken("the schema version cannot be read")),
    }
}
