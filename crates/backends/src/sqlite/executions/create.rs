//! A new run, with its outbox entry.

use ports::store::{ExecutionCreated, NewExecution};
use protocol::ExecutionId;
use protocol::execution::ExecutionStats;
use protocol::limits::EXECUTION_DEPTH;
use rusqlite::{Connection, OptionalExtension, params};

use super::super::Moment;
use super::super::boot::millis;
use super::super::fault::Fault;
use super::super::job::Done;
use super::read::by_id;

pub(super) fn create(
    db: &Connection,
    now: Moment,
    new: &NewExecution,
    request: &str,
) -> Result<Done<ExecutionCreated>, Fault> {
    if let Some(known) = by_id(db, &new.id)? {
        if known.user_id != new.user_id {
            return Err(Fault::broken("the id is that of somebody else's execution"));
        }
        return Ok(Done::quietly(ExecutionCreated::Exists(Box::new(known))));
    }
    let depth = match &new.parent {
        None => 0,
        Some(parent) => match depth_of(db, new, parent)? {
            None => return Ok(Done::quietly(ExecutionCreated::ParentEnded)),
            Some(depth) if depth >= EXECUTION_DEPTH => {
                return Ok(Done::quietly(ExecutionCreated::TooDeep));
            }
            Some(depth) => depth + 1,
        },
    };
    insert(db, now, new, depth, request)?;
    db.prepare_cached(
        "UPDATE library_agent SET last_run_at = ?3 WHERE user_id = ?1 AND graph_id = ?2",
    )?
    .execute(params![new.user_id.as_str(), new.graph_id.as_str(), now.wall_us])?;
    let created =
        by_id(db, &new.id)?.ok_or_else(|| Fault::broken("a new execution cannot be found"))?;
    Ok(Done::quietly(ExecutionCreated::New(Box::new(created))))
}

/// `None`: the parent starts nothing any more, or never did.
fn depth_of(
    db: &Connection,
    new: &NewExecution,
    parent: &ExecutionId,
) -> Result<Option<u32>, Fault> {
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
    now: Moment,
    new: &NewExecution,
    depth: u32,
    request: &str,
) -> Result<(), Fault> {
    let stats = ExecutionStats { is_dry_run: new.request.dry_run, ..ExecutionStats::default() };
    let stats = serde_json::to_string(&stats).map_err(|e| Fault::broken(e.to_string()))?;
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
