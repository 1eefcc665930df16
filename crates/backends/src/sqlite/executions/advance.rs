//! Advances an execution under its claim: appends to its journal and applies everything that belongs to the new events.

use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use ports::{Fenced, PortError, PortResult};
use protocol::UserId;
use protocol::execution::{ExecutionClaim, ExecutionError, ExecutionStatus};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::error::SqliteError;
use super::super::write_job::WriteOutput;
use super::super::{StoreTime, credits, reviews, rows};
use super::journal::{self, EVENTS};
use super::repeated_advance;
use crate::fingerprint::fingerprint;

/// An advance with everything that can be computed before the write.
pub(super) struct PreparedAdvance {
    pub(super) claim: ExecutionClaim,
    pub(super) advance: ExecutionAdvance,
    pub(super) fingerprint: Vec<u8>,
    stats: String,
}

impl PreparedAdvance {
    pub(super) fn new(claim: ExecutionClaim, advance: ExecutionAdvance) -> PortResult<Self> {
        if advance.events.is_empty() != (advance.count == 0) {
            return Err(PortError::Broken("the event count does not match the events".into()));
        }
        if advance.after.saturating_add(advance.count) >= EVENTS as u64 {
            return Err(PortError::Broken("the journal is too long".into()));
        }
        if let AfterAdvance::End { status, .. } = &advance.then
            && !status.is_final()
        {
            let status = status.as_str();
            return Err(PortError::Broken(format!("{status} is not a final execution status")));
        }
        let stats = serde_json::to_string(&advance.stats)
            .map_err(|error| PortError::Broken(error.to_string()))?;
        let fingerprint = fingerprint(&advance);
        Ok(Self { claim, advance, fingerprint, stats })
    }
}

/// Two statements in the common case; the reason for a refusal is looked up only when needed.
pub(super) fn advance(
    db: &Connection,
    now: StoreTime,
    prepared: &PreparedAdvance,
) -> Result<WriteOutput<Fenced<ExecutionAdvanced>>, SqliteError> {
    let Some((number, user)) = grow(db, prepared)? else {
        return repeated_advance::reply(db, prepared).map(WriteOutput::silent);
    };
    let advance = &prepared.advance;
    if advance.count > 0 {
        journal::append(db, number, advance)?;
    }
    for charge in &advance.charges {
        credits::charge(db, now, &user, charge)?;
    }
    for review in &advance.reviews {
        reviews::insert(db, review)?;
    }
    let answer = match &advance.then {
        AfterAdvance::Continue => ExecutionAdvanced::Done,
        AfterAdvance::AwaitReviews => rest(db, now, prepared, number)?,
        AfterAdvance::End { status, error } => {
            end(db, now, prepared, number, *status, error.as_ref())?;
            ExecutionAdvanced::Done
        }
    };
    Ok(WriteOutput::silent(Fenced::Done(answer)))
}

/// `None` when the claim is stale, the position differs, or the last advance is repeated.
fn grow(db: &Connection, prepared: &PreparedAdvance) -> Result<Option<(i64, UserId)>, SqliteError> {
    let grown = db
        .prepare_cached(
            "UPDATE execution SET events = ?4, stats = ?5, last_advance = ?6, last_decided = 0
             WHERE id = ?1 AND fence = ?2 AND events = ?3 AND status = 'RUNNING'
               AND last_advance IS NOT ?6
             RETURNING number, user_id",
        )?
        .query_row(
            params![
                prepared.claim.execution_id.as_str(),
                prepared.claim.fence as i64,
                prepared.advance.after as i64,
                (prepared.advance.after + prepared.advance.count) as i64,
                prepared.stats,
                prepared.fingerprint,
            ],
            |row| Ok((row.get("number")?, rows::id(row, "user_id")?)),
        )
        .optional()?;
    Ok(grown)
}

fn rest(
    db: &Connection,
    now: StoreTime,
    prepared: &PreparedAdvance,
    number: i64,
) -> Result<ExecutionAdvanced, SqliteError> {
    if !reviews::any_waiting(db, &prepared.claim.execution_id)? {
        db.prepare_cached("UPDATE execution SET last_decided = 1 WHERE number = ?1")?
            .execute([number])?;
        return Ok(ExecutionAdvanced::Decided);
    }
    // An execution that is being stopped must not wait for a review: a worker has to end it.
    db.prepare_cached(
        "UPDATE execution SET status = iif(stop_requested = 1, 'QUEUED', 'REVIEW'),
             due_ms = iif(stop_requested = 1, ?2, NULL), lease_until_ms = NULL, worker = NULL,
             attempt = max(0, attempt - 1)
         WHERE number = ?1",
    )?
    .execute([number, now.ms])?;
    Ok(ExecutionAdvanced::Done)
}

fn end(
    db: &Connection,
    now: StoreTime,
    prepared: &PreparedAdvance,
    number: i64,
    status: ExecutionStatus,
    error: Option<&ExecutionError>,
) -> Result<(), SqliteError> {
    let error = error
        .map(serde_json::to_string)
        .transpose()
        .map_err(|error| SqliteError::broken(error.to_string()))?;
    db.prepare_cached(
        "UPDATE execution SET status = ?2, error = ?3, ended_at = ?4, due_ms = NULL,
             lease_until_ms = NULL, worker = NULL
         WHERE number = ?1",
    )?
    .execute(params![number, status.as_str(), error, now.wall_us])?;
    reviews::withdraw(db, &prepared.claim.execution_id)
}
