//! What a run does, step by step, under its claim: its journal grows, with all that belongs to the new events.

use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use ports::{Fenced, PortError, PortResult};
use protocol::UserId;
use protocol::execution::{ExecutionClaim, ExecutionError, ExecutionStatus};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fault::Fault;
use super::super::job::Done;
use super::super::{Moment, credits, reviews, rows};
use super::journal::{self, EVENTS};
use super::repeat;
use crate::fingerprint::fingerprint;

/// An advance with all that can be made of it before the writer has it.
pub(super) struct Step {
    pub(super) claim: ExecutionClaim,
    pub(super) advance: ExecutionAdvance,
    pub(super) fingerprint: Vec<u8>,
    stats: String,
}

impl Step {
    pub(super) fn new(claim: ExecutionClaim, advance: ExecutionAdvance) -> PortResult<Self> {
        if advance.events.is_empty() != (advance.count == 0) {
            return Err(PortError::Broken("events and their number do not agree".into()));
        }
        if advance.after.saturating_add(advance.count) >= EVENTS as u64 {
            return Err(PortError::Broken("a journal cannot be so long".into()));
        }
        if let AfterAdvance::End { status, .. } = &advance.then
            && !status.is_final()
        {
            let status = status.as_str();
            return Err(PortError::Broken(format!("{status} is no end of an execution")));
        }
        let stats = serde_json::to_string(&advance.stats)
            .map_err(|error| PortError::Broken(error.to_string()))?;
        let fingerprint = fingerprint(&advance);
        Ok(Self { claim, advance, fingerprint, stats })
    }
}

/// Two statements for the common case; the reason for a refusal is looked up only when there is one.
pub(super) fn advance(
    db: &Connection,
    now: Moment,
    step: &Step,
) -> Result<Done<Fenced<ExecutionAdvanced>>, Fault> {
    let Some((number, user)) = grow(db, step)? else {
        return repeat::answer(db, step).map(Done::quietly);
    };
    let advance = &step.advance;
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
        AfterAdvance::AwaitReviews => rest(db, now, step, number)?,
        AfterAdvance::End { status, error } => {
            end(db, now, step, number, *status, error.as_ref())?;
            ExecutionAdvanced::Done
        }
    };
    Ok(Done::quietly(Fenced::Done(answer)))
}

/// `None`: the claim is stale, the place is another, or this is the last advance again.
fn grow(db: &Connection, step: &Step) -> Result<Option<(i64, UserId)>, Fault> {
    let grown = db
        .prepare_cached(
            "UPDATE execution SET events = ?4, stats = ?5, last_advance = ?6, last_decided = 0
             WHERE id = ?1 AND fence = ?2 AND events = ?3 AND status = 'RUNNING'
               AND last_advance IS NOT ?6
             RETURNING number, user_id",
        )?
        .query_row(
            params![
                step.claim.execution_id.as_str(),
                step.claim.fence as i64,
                step.advance.after as i64,
                (step.advance.after + step.advance.count) as i64,
                step.stats,
                step.fingerprint,
            ],
            |row| Ok((row.get("number")?, rows::id(row, "user_id")?)),
        )
        .optional()?;
    Ok(grown)
}

fn rest(
    db: &Connection,
    now: Moment,
    step: &Step,
    number: i64,
) -> Result<ExecutionAdvanced, Fault> {
    if !reviews::any_waits(db, &step.claim.execution_id)? {
        db.prepare_cached("UPDATE execution SET last_decided = 1 WHERE number = ?1")?
            .execute([number])?;
        return Ok(ExecutionAdvanced::Decided);
    }
    // One that is to stop must not wait for a person first: somebody has to end it.
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
    now: Moment,
    step: &Step,
    number: i64,
    status: ExecutionStatus,
    error: Option<&ExecutionError>,
) -> Result<(), Fault> {
    let error = error
        .map(serde_json::to_string)
        .transpose()
        .map_err(|error| Fault::broken(error.to_string()))?;
    db.prepare_cached(
        "UPDATE execution SET status = ?2, error = ?3, ended_at = ?4, due_ms = NULL,
             lease_until_ms = NULL, worker = NULL
         WHERE number = ?1",
    )?
    .execute(params![number, status.as_str(), error, now.wall_us])?;
    reviews::withdraw(db, &step.claim.execution_id)
}
