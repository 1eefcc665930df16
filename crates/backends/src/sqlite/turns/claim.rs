//! Claims of turns.

use std::time::Duration;

use ports::leases::{GrantedTurn, JobClaimed};
use ports::stream_log::TakenOver;
use protocol::limits::UserLimits;
use protocol::turn::TurnStatus;
use protocol::{SessionId, TurnId, WorkerId};
use rusqlite::{Connection, OptionalExtension, params};

use super::permits::end_rest;
use super::{by_id, open_after};
use crate::rows::StoreRow;
use crate::rules::claim::ClaimCheck;
use crate::sqlite::boot_clock::millis;
use crate::sqlite::error::SqliteError;
use crate::sqlite::{StoreTime, stream_log};

pub(crate) fn claim(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    turn: &TurnId,
    worker: &WorkerId,
    ttl: Duration,
) -> Result<JobClaimed, SqliteError> {
    let Some(mut found) = find(db, now, turn, worker)? else {
        return Ok(JobClaimed::Ended);
    };
    match found.check {
        ClaimCheck::Free | ClaimCheck::Expired => {}
        ClaimCheck::Repeated => return claimed(db, turn, worker, found.fence as u64),
        ClaimCheck::Refused(refusal) => return Ok(refusal),
    }
    if found.rests && !found.cancel_requested {
        if found.due_ms.is_none_or(|due| due > now.ms) {
            return Ok(JobClaimed::NotReady);
        }
        found.admitted = end_rest(db, now, caps, turn)?;
    }
    if !found.admitted {
        let first = open_after(db, &found.session, 0)?.is_none_or(|(_, at)| at >= found.ordinal);
        if !found.cancel_requested || !first {
            return Ok(JobClaimed::NotReady);
        }
    }
    db.prepare_cached(
        "UPDATE turn SET status = 'running', fence = ?2, attempt = attempt + 1, worker = ?3,
             lease_until_ms = ?4, due_ms = NULL, rests = 0, started_at = ifnull(started_at, ?5),
             started_boot = ifnull(started_boot, ?6), started_ms = ifnull(started_ms, ?7)
         WHERE id = ?1",
    )?
    .execute(params![
        turn.as_str(),
        found.fence + 1,
        worker.as_str(),
        now.ms + millis(ttl),
        now.wall_us,
        now.boot,
        now.ms,
    ])?;
    claimed(db, turn, worker, (found.fence + 1) as u64)
}

/// The claim as the row has it, with the position of its stream log.
fn claimed(
    db: &Connection,
    turn: &TurnId,
    worker: &WorkerId,
    fence: u64,
) -> Result<JobClaimed, SqliteError> {
    // In the same transaction, so that the previous holder cannot append from now on.
    let log_at = match stream_log::take_over(db, &turn.task(), fence)? {
        TakenOver::At { last, sealed: false } => Some(last),
        TakenOver::At { sealed: true, .. } | TakenOver::Stale => None,
    };
    let turn =
        by_id(db, turn)?.ok_or_else(|| SqliteError::broken("a claimed turn cannot be found"))?;
    Ok(JobClaimed::Turn(Box::new(GrantedTurn::new(turn, worker.clone(), log_at))))
}

struct TurnLeaseRow {
    session: SessionId,
    ordinal: i64,
    fence: i64,
    check: ClaimCheck,
    admitted: bool,
    rests: bool,
    due_ms: Option<i64>,
    cancel_requested: bool,
}

fn find(
    db: &Connection,
    now: StoreTime,
    turn: &TurnId,
    worker: &WorkerId,
) -> Result<Option<TurnLeaseRow>, SqliteError> {
    let found = db
        .prepare_cached(
            "SELECT session_id, ordinal, status, fence, worker, lease_until_ms > ?2 AS is_held,
                 admitted, rests, due_ms, cancel_requested
             FROM turn WHERE id = ?1",
        )?
        .query_row(params![turn.as_str(), now.ms], |row| {
            Ok(TurnLeaseRow {
                session: row.id("session_id")?,
                ordinal: row.get("ordinal")?,
                fence: row.get("fence")?,
                check: ClaimCheck::read::<TurnStatus, _>(row, worker)?,
                admitted: row.get("admitted")?,
                rests: row.get("rests")?,
                due_ms: row.get("due_ms")?,
                cancel_requested: row.get("cancel_requested")?,
            })
        })
        .optional()?;
    Ok(found)
}

/// Ends the claim on a turn in good order, so that it does not count as a crashed attempt.
pub(crate) fn release_lease(
    db: &Connection,
    turn: &TurnId,
    due_ms: Option<i64>,
) -> Result<(), SqliteError> {
    db.prepare_cached(
        "UPDATE turn SET status = 'queued', due_ms = ?2, lease_until_ms = NULL, worker = NULL,
             attempt = max(0, attempt - 1)
         WHERE id = ?1",
    )?
    .execute(params![turn.as_str(), due_ms])?;
    Ok(())
}
