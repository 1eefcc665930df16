//! Advances an execution under its claim: appends to its journal and applies everything that belongs to the new events.

use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use ports::{Fenced, PortError, PortResult};
use protocol::UserId;
use protocol::execution::{ExecutionClaim, ExecutionError, ExecutionStatus};
use rusqlite::{Connection, OptionalExtension, params};

use super::journal::{self, EVENTS};
use super::repeated_advance;
use crate::rows::StoreRow;
use crate::rules::advance::{check_advance, fingerprint};
use crate::rules::json::to_json;
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;
use crate::sqlite::{StoreTime, credits, reviews};

/// An advance with everything that can be computed before the write.
pub(crate) struct PreparedAdvance {
    pub(crate) claim: ExecutionClaim,
    pub(crate) advance: ExecutionAdvance,
    pub(crate) fingerprint: Vec<u8>,
    stats: String,
}

impl PreparedAdvance {
    pub(crate) fn new(claim: ExecutionClaim, advance: ExecutionAdvance) -> PortResult<Self> {
        check_advance(&advance)?;
        if advance.after.saturating_add(advance.count) >= EVENTS as u64 {
            return Err(PortError::Broken("the journal is too long".into()));
        }
        let stats = to_json(&advance.stats)?;
        let fingerprint = fingerprint(&advance);
        Ok(Self { claim, advance, fingerprint, stats })
    }
}

/// Two statements in the common case; the reason for a refusal is looked up only when needed.
pub(crate) fn advance(
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
            |row| Ok((row.get("number")?, row.id("user_id")?)),
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
    let error = error.map(to_json).transpose()?;
    db.prepare_cached(
        "UPDATE execution SET status = ?2, error = ?3, ended_at = ?4, due_ms = NULL,
             lease_until_ms = NULL, worker = NULL
         WHERE number = ?1",
    )?
    .execute(params![number, status.as_str(), error, now.wall_us])?;
    reviews::withdraw(db, &prepared.claim.execution_id)
}
