//! Creates an execution, with its outbox entry.

use ports::store::{ExecutionCreated, NewExecution};
use protocol::ExecutionId;
use protocol::execution::ExecutionStats;
use protocol::limits::EXECUTION_DEPTH;
use rusqlite::{Connection, OptionalExtension, params};

use super::super::StoreTime;
use super::super::boot_clock::millis;
use super::super::error::SqliteError;
use super::super::write_job::WriteOutput;
use super::read::by_id;

pub(super) fn create(
    db: &Connection,
    now: StoreTime,
    new: &NewExecution,
    request: &str,
) -> Result<WriteOutput<ExecutionCreated>, SqliteError> {
    if let Some(existing) = by_id(db, &new.id)? {
        if existing.user_id != new.user_id {
            return Err(SqliteError::broken("the id belongs to another user's execution"));
        }
        return Ok(WriteOutput::silent(ExecutionCreated::Exists(Box::new(existing))));
    }
    let depth = match &new.parent {
        None => 0,
        Some(parent) => match depth_of(db, new, parent)? {
            None => return Ok(WriteOutput::silent(ExecutionCreated::ParentEnded)),
            Some(depth) if depth >= EXECUTION_DEPTH => {
                return Ok(WriteOutput::silent(ExecutionCreated::TooDeep));
            }
            Some(depth) => depth + 1,
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
    let stats = ExecutionStats { is_dry_run: new.request.dry_run, ..ExecutionStats::default() };
    let stats = serde_json::to_string(&stats).map_err(|e| SqliteError::broken(e.to_string()))?;
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
