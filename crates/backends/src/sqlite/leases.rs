//! Leases of turns, as times on this process's own clock; a restart ends them all.

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::{LeaseRenewal, Leases, TurnClaimed};
use ports::stream_log::TakenOver;
use ports::{Fenced, PortResult};
use protocol::limits::UserLimits;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{SessionId, TurnId, WorkerId};
use rusqlite::{Connection, OptionalExtension, params};

use super::boot_clock::millis;
use super::error::SqliteError;
use super::stream_log::{self, count_fenced};
use super::turns::permits::end_rest;
use super::turns::{by_id, find_claimed, open_after};
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, StoreTime, rows};
use crate::words;

#[async_trait]
impl Leases for SqliteStore {
    async fn claim(
        &self,
        turn: &TurnId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<TurnClaimed> {
        let (turn, worker, now, caps) =
            (turn.clone(), worker.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Ordinary, move |db| claim(db, now, caps, &turn, &worker, ttl))
            .await
    }

    async fn renew(&self, claim: &TurnClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        let (claim, until) = (claim.clone(), self.boot.ms() + millis(ttl));
        // Essential: a worker that cannot renew gives its turn up, and could then not finish it either.
        self.writer
            .run(WritePriority::Essential, move |db| {
                let renewed = db
                    .prepare_cached(
                        "UPDATE turn SET lease_until_ms = ?3
                         WHERE id = ?1 AND fence = ?2 AND status = 'running'
                         RETURNING cancel_requested",
                    )?
                    .query_row(params![claim.turn_id.as_str(), claim.fence as i64, until], |row| {
                        Ok(LeaseRenewal::Held { cancel_requested: row.get(0)? })
                    })
                    .optional()?;
                Ok(WriteOutput::silent(renewed.unwrap_or_else(|| {
                    count_fenced();
                    LeaseRenewal::Lost
                })))
            })
            .await
    }

    async fn hand_back(&self, claim: &TurnClaim) -> PortResult<Fenced<()>> {
        let (claim, now) = (claim.clone(), self.store_time());
        self.writer
            .run(WritePriority::Essential, move |db| {
                if find_claimed(db, &claim)?.is_none() {
                    return Ok(WriteOutput::silent(Fenced::Stale));
                }
                release_lease(db, &claim.turn_id, Some(now.ms))?;
                Ok(WriteOutput::silent(Fenced::Done(())))
            })
            .await
    }
}

/// Ends the claim on a turn in good order, so that it does not count as a crashed attempt.
pub(super) fn release_lease(
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

fn claim(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    turn: &TurnId,
    worker: &WorkerId,
    ttl: Duration,
) -> Result<WriteOutput<TurnClaimed>, SqliteError> {
    let Some(mut found) = find(db, turn)? else {
        return Ok(WriteOutput::silent(TurnClaimed::Ended));
    };
    match found.status {
        TurnStatus::Queued => {}
        TurnStatus::Running if found.lease_until_ms.is_some_and(|until| until > now.ms) => {
            if found.worker.as_deref() != Some(worker.as_str()) {
                return Ok(WriteOutput::silent(TurnClaimed::Held));
            }
            return claimed(db, turn, worker, found.fence as u64);
        }
        TurnStatus::Running => {}
        TurnStatus::Completed | TurnStatus::Failed | TurnStatus::Cancelled => {
            return Ok(WriteOutput::silent(TurnClaimed::Ended));
        }
    }
    if found.rests && !found.cancel_requested {
        if found.due_ms.is_none_or(|due| due > now.ms) {
            return Ok(WriteOutput::silent(TurnClaimed::NotAdmitted));
        }
        found.admitted = end_rest(db, now, caps, turn)?;
    }
    if !found.admitted {
        let first = open_after(db, &found.session, 0)?.is_none_or(|(_, at)| at >= found.ordinal);
        if !found.cancel_requested || !first {
            return Ok(WriteOutput::silent(TurnClaimed::NotAdmitted));
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
) -> Result<WriteOutput<TurnClaimed>, SqliteError> {
    // In the same transaction, so that the previous holder cannot append from now on.
    let log_at = match stream_log::take_over(db, &turn.task(), fence)? {
        TakenOver::At { last, sealed: false } => Some(last),
        TakenOver::At { sealed: true, .. } | TakenOver::Stale => None,
    };
    let turn =
        by_id(db, turn)?.ok_or_else(|| SqliteError::broken("a claimed turn cannot be found"))?;
    let claim = TurnClaim {
        turn_id: turn.id.clone(),
        session_id: turn.session_id.clone(),
        fence,
        worker: worker.clone(),
    };
    Ok(WriteOutput::silent(TurnClaimed::Granted { claim, turn: Box::new(turn), log_at }))
}

struct TurnLeaseRow {
    session: SessionId,
    ordinal: i64,
    status: TurnStatus,
    fence: i64,
    lease_until_ms: Option<i64>,
    worker: Option<String>,
    admitted: bool,
    rests: bool,
    due_ms: Option<i64>,
    cancel_requested: bool,
}

fn find(db: &Connection, turn: &TurnId) -> Result<Option<TurnLeaseRow>, SqliteError> {
    let found = db
        .prepare_cached(
            "SELECT session_id, ordinal, status, fence, lease_until_ms, worker, admitted, rests,
                 due_ms, cancel_requested FROM turn WHERE id = ?1",
        )?
        .query_row([turn.as_str()], |row| {
            Ok(TurnLeaseRow {
                session: rows::id(row, "session_id")?,
                ordinal: row.get("ordinal")?,
                status: rows::word(row, "status", words::status)?,
                fence: row.get("fence")?,
                lease_until_ms: row.get("lease_until_ms")?,
                worker: row.get("worker")?,
                admitted: row.get("admitted")?,
                rests: row.get("rests")?,
                due_ms: row.get("due_ms")?,
                cancel_requested: row.get("cancel_requested")?,
            })
        })
        .optional()?;
    Ok(found)
}
