//! Claims of executions. Leases are times on this process's own clock; a restart ends them all.

use std::time::Duration;

use ports::Fenced;
use ports::leases::LeaseRenewal;
use ports::store::ExecutionClaimed;
use protocol::execution::{ExecutionClaim, ExecutionStatus};
use protocol::{ExecutionId, WorkerId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::boot_clock::millis;
use super::super::error::SqliteError;
use super::super::stream_log::count_fenced;
use super::super::write_job::WriteOutput;
use super::super::{StoreTime, rows};
use super::read::by_id;

pub(super) fn claim(
    db: &Connection,
    now: StoreTime,
    cap: u32,
    id: &ExecutionId,
    worker: &WorkerId,
    ttl: Duration,
) -> Result<WriteOutput<ExecutionClaimed>, SqliteError> {
    let Some(found) = find(db, id)? else {
        return Ok(WriteOutput::silent(ExecutionClaimed::Ended));
    };
    match found.status {
        status if status.is_final() => return Ok(WriteOutput::silent(ExecutionClaimed::Ended)),
        ExecutionStatus::Review => return Ok(WriteOutput::silent(ExecutionClaimed::InReview)),
        ExecutionStatus::Running if found.lease_until_ms.is_some_and(|until| until > now.ms) => {
            if found.worker.as_deref() != Some(worker.as_str()) {
                return Ok(WriteOutput::silent(ExecutionClaimed::Held));
            }
            return claimed(db, id, worker, found.fence);
        }
        _ => {}
    }
    if found.is_limited && others_running(db, &found)? >= cap {
        return Ok(WriteOutput::silent(ExecutionClaimed::AtCap));
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
    claimed(db, id, worker, found.fence + 1)
}

/// The claim as the row has it.
fn claimed(
    db: &Connection,
    id: &ExecutionId,
    worker: &WorkerId,
    fence: i64,
) -> Result<WriteOutput<ExecutionClaimed>, SqliteError> {
    let execution =
        by_id(db, id)?.ok_or_else(|| SqliteError::broken("a claimed execution cannot be found"))?;
    let claim =
        ExecutionClaim { execution_id: id.clone(), fence: fence as u64, worker: worker.clone() };
    Ok(WriteOutput::silent(ExecutionClaimed::Granted { claim, execution: Box::new(execution) }))
}

struct ExecutionLeaseRow {
    number: i64,
    user: String,
    status: ExecutionStatus,
    fence: i64,
    worker: Option<String>,
    lease_until_ms: Option<i64>,
    /// Whether the limit applies: not to sub-executions, nor to executions claimed only to be ended.
    is_limited: bool,
}

fn find(db: &Connection, id: &ExecutionId) -> Result<Option<ExecutionLeaseRow>, SqliteError> {
    let found = db
        .prepare_cached(
            "SELECT number, user_id, status, fence, worker, lease_until_ms,
                 parent_id IS NULL AND stop_requested = 0 AS counts
             FROM execution WHERE id = ?1",
        )?
        .query_row([id.as_str()], |row| {
            Ok(ExecutionLeaseRow {
                number: row.get("number")?,
                user: row.get("user_id")?,
                status: rows::word(row, "status", ExecutionStatus::parse)?,
                fence: row.get("fence")?,
                worker: row.get("worker")?,
                lease_until_ms: row.get("lease_until_ms")?,
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

pub(super) fn renew(
    db: &Connection,
    claim: &ExecutionClaim,
    until: i64,
) -> Result<WriteOutput<LeaseRenewal>, SqliteError> {
    let renewed = db
        .prepare_cached(
            "UPDATE execution SET lease_until_ms = ?3
             WHERE id = ?1 AND fence = ?2 AND status = 'RUNNING'
             RETURNING stop_requested",
        )?
        .query_row(params![claim.execution_id.as_str(), claim.fence as i64, until], |row| {
            Ok(LeaseRenewal::Held { cancel_requested: row.get(0)? })
        })
        .optional()?;
    Ok(WriteOutput::silent(renewed.unwrap_or_else(|| {
        count_fenced();
        LeaseRenewal::Lost
    })))
}

pub(super) fn hand_back(
    db: &Connection,
    now: StoreTime,
    claim: &ExecutionClaim,
) -> Result<WriteOutput<Fenced<()>>, SqliteError> {
    let handed = db
        .prepare_cached(
            "UPDATE execution SET status = 'QUEUED', due_ms = ?3, lease_until_ms = NULL,
                 worker = NULL, attempt = max(0, attempt - 1)
             WHERE id = ?1 AND fence = ?2 AND status = 'RUNNING'",
        )?
        .execute(params![claim.execution_id.as_str(), claim.fence as i64, now.ms])?;
    if handed == 0 {
        count_fenced();
        return Ok(WriteOutput::silent(Fenced::Stale));
    }
    Ok(WriteOutput::silent(Fenced::Done(())))
}
