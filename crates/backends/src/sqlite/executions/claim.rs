//! Claims of executions.

use std::time::Duration;

use ports::leases::{GrantedExecution, JobClaimed};
use protocol::execution::ExecutionStatus;
use protocol::{ExecutionId, WorkerId};
use rusqlite::{Connection, OptionalExtension, params};

use super::find::by_id;
use crate::rules::claim::ClaimCheck;
use crate::sqlite::StoreTime;
use crate::sqlite::boot_clock::millis;
use crate::sqlite::error::SqliteError;

pub(crate) fn claim(
    db: &Connection,
    now: StoreTime,
    cap: u32,
    id: &ExecutionId,
    worker: &WorkerId,
    ttl: Duration,
) -> Result<JobClaimed, SqliteError> {
    let Some(found) = find(db, now, id, worker)? else {
        return Ok(JobClaimed::Ended);
    };
    match found.check {
        ClaimCheck::Free | ClaimCheck::Expired => {}
        ClaimCheck::Repeated => return claimed(db, id, worker),
        ClaimCheck::Refused(refusal) => return Ok(refusal),
    }
    if found.is_limited && others_running(db, &found)? >= cap {
        return Ok(JobClaimed::AtLimit);
    }
    // Clears the digest of the last advance: the same advance under a new claim is not a repetition.
    db.prepare_cached(
        "UPDATE execution SET status = 'RUNNING', fence = ?2, attempt = attempt + 1, worker = ?3,
             lease_until_ms = ?4, due_ms = NULL, started_at = ifnull(started_at, ?5),
             last_advance = NULL
         WHERE number = ?1",
    )?
    .execute(params![
        found.number,
        found.fence + 1,
        worker.as_str(),
        now.ms + millis(ttl),
        now.wall_us,
    ])?;
    claimed(db, id, worker)
}

/// The claim as the row has it.
fn claimed(
    db: &Connection,
    id: &ExecutionId,
    worker: &WorkerId,
) -> Result<JobClaimed, SqliteError> {
    let execution =
        by_id(db, id)?.ok_or_else(|| SqliteError::broken("a claimed execution cannot be found"))?;
    Ok(JobClaimed::Execution(Box::new(GrantedExecution::new(execution, worker.clone()))))
}

struct ExecutionLeaseRow {
    number: i64,
    user: String,
    fence: i64,
    check: ClaimCheck,
    /// Whether the limit applies: not to sub-executions, nor to executions claimed only to be ended.
    is_limited: bool,
}

fn find(
    db: &Connection,
    now: StoreTime,
    id: &ExecutionId,
    worker: &WorkerId,
) -> Result<Option<ExecutionLeaseRow>, SqliteError> {
    let found = db
        .prepare_cached(
            "SELECT number, user_id, status, fence, worker, lease_until_ms > ?2 AS is_held,
                 parent_id IS NULL AND stop_requested = 0 AS counts
             FROM execution WHERE id = ?1",
        )?
        .query_row(params![id.as_str(), now.ms], |row| {
            Ok(ExecutionLeaseRow {
                number: row.get("number")?,
                user: row.get("user_id")?,
                fence: row.get("fence")?,
                check: ClaimCheck::read::<ExecutionStatus, _>(row, worker)?,
                is_limited: row.get("counts")?,
            })
        })
        .optional()?;
    Ok(found)
}

/// Number of the user's other running executions. An execution that is taken over is running already.
fn others_running(db: &Connection, found: &ExecutionLeaseRow) -> Result<u32, SqliteError> {
    let others = db
        .prepare_cached(
            "SELECT count(*) FROM execution
             WHERE user_id = ?1 AND status = 'RUNNING' AND parent_id IS NULL AND number <> ?2",
        )?
        .query_row(params![found.user, found.number], |row| row.get(0))?;
    Ok(others)
}
