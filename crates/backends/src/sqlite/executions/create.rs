//! Creates an execution, with its outbox entry.

use ports::store::{ExecutionCreated, NewExecution};
use protocol::ExecutionId;
use rusqlite::{Connection, OptionalExtension, params};

use super::find::by_id;
use crate::rules::json::to_json;
use crate::rules::new_execution::{self, depth_below, first_stats};
use crate::sqlite::StoreTime;
use crate::sqlite::boot_clock::millis;
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn create(
    db: &Connection,
    now: StoreTime,
    new: &NewExecution,
    request: &str,
) -> Result<WriteOutput<ExecutionCreated>, SqliteError> {
    if let Some(existing) = by_id(db, &new.id)? {
        return Ok(WriteOutput::silent(new_execution::existing(existing, &new.user_id)?));
    }
    let depth = match &new.parent {
        None => 0,
        Some(parent) => match depth_below(depth_of(db, new, parent)?) {
            Ok(depth) => depth,
            Err(refused) => return Ok(WriteOutput::silent(refused)),
        },
    };
    insert(db, now, new, depth, request)?;
    db.prepare_cached(
        "UPDATE library_agent SET last_run_at = ?3 WHERE user_id = ?1 AND graph_id = ?2",
    )?
    .execute(params![new.user_id.as_str(), new.graph_id.as_str(), now.wall_us])?;
    let created = by_id(db, &new.id)?
        .ok_or_else(|| SqliteError::broken("a new execution cannot be found"))?;
    Ok(WriteOutput::silent(ExecutionCreated::New(Box::new(created))))
}

/// `None` when the parent has ended or is being stopped, or does not exist.
fn depth_of(
    db: &Connection,
    new: &NewExecution,
    parent: &ExecutionId,
) -> Result<Option<u32>, SqliteError> {
    let depth = db
        .prepare_cached(
            "SELECT depth FROM execution WHERE id = ?1 AND user_id = ?2 AND stop_requested = 0
               AND status NOT IN ('COMPLETED', 'TERMINATED', 'FAILED')",
        )?
        .query_row([parent.as_str(), new.user_id.as_str()], |row| row.get(0))
        .optional()?;
    Ok(depth)
}

fn insert(
    db: &Connection,
    now: StoreTime,
    new: &NewExecution,
    depth: u32,
    request: &str,
) -> Result<(), SqliteError> {
    let stats = to_json(&first_stats(&new.request))?;
    db.prepare_cached(
        "INSERT INTO execution (id, user_id, graph_id, graph_version, status, parent_id, depth,
             stats, due_ms, created_at)
         VALUES (?1, ?2, ?3, ?4, 'QUEUED', ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        new.id.as_str(),
        new.user_id.as_str(),
        new.graph_id.as_str(),
        new.graph_version,
        new.parent.as_ref().map(ExecutionId::as_str),
        depth,
        stats,
        now.ms + millis(new.push_grace),
        now.wall_us,
    ])?;
    db.prepare_cached("INSERT INTO execution_request (number, body) VALUES (?1, ?2)")?
        .execute(params![db.last_insert_rowid(), request])?;
    Ok(())
}
