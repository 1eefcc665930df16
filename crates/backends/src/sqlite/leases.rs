//! Who may act for a turn. Leases are times on this process's own clock; a restart ends them all.

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::{LeaseRenewal, Leases, TurnClaimed};
use ports::stream_log::TakenOver;
use ports::{Fenced, PortResult};
use protocol::limits::UserLimits;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{SessionId, TurnId, WorkerId};
use rusqlite::{Connection, OptionalExtension, params};

use super::boot::millis;
use super::fault::Fault;
use super::job::{Done, Need};
use super::stream_log::{self, count_fenced};
use super::turns::places::wake;
use super::turns::{by_id, held, open_after};
use super::{Moment, Sqlite, rows};
use crate::words;

#[async_trait]
impl Leases for Sqlite {
    async fn claim(
        &self,
        turn: &TurnId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<TurnClaimed> {
        let (turn, worker, now, caps) = (turn.clone(), worker.clone(), self.moment(), self.caps);
        self.writer.run(Need::Ordinary, move |db| claim(db, now, caps, &turn, &worker, ttl)).await
    }

    async fn renew(&self, claim: &TurnClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        let (claim, until) = (claim.clone(), self.boot.ms() + millis(ttl));
        // Essential: a worker that cannot renew gives its turn up, and could then not end it either.
        self.writer
            .run(Need::Essential, move |db| {
                let held = db
                    .prepare_cached(
                        "UPDATE turn SET lease_until_ms = ?3
                         WHERE id = ?1 AND fence = ?2 AND status = 'running'
                         RETURNING cancel_requested",
                    )?
                    .query_row(params![claim.turn_id.as_str(), claim.fence as i64, until], |row| {
                        Ok(LeaseRenewal::Held { cancel_requested: row.get(0)? })
                    })
                    .optional()?;
                Ok(Done::quietly(held.unwrap_or_else(|| {
                    count_fenced();
                    LeaseRenewal::Lost
                })))
            })
            .await
    }

    async fn hand_back(&self, claim: &TurnClaim) -> PortResult<Fenced<()>> {
        let (claim, now) = (claim.clone(), self.moment());
        self.writer
            .run(Need::Essential, move |db| {
                if held(db, &claim)?.is_none() {
                    return Ok(Done::quietly(Fenced::Stale));
                }
                give_up(db, &claim.turn_id, Some(now.ms))?;
                Ok(Done::quietly(Fenced::Done(())))
            })
            .await
    }
}

/// Ends the claim on a turn that is held, in good order: it is no crashed attempt.
pub(super) fn give_up(db: &Connection, turn: &TurnId, due_ms: Option<i64>) -> Result<(), Fault> {
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
    now: Moment,
    caps: UserLimits,
    turn: &TurnId,
    worker: &WorkerId,
    ttl: Duration,
) -> Result<Done<TurnClaimed>, Fault> {
    let Some(mut found) = find(db, turn)? else { return Ok(Done::quietly(TurnClaimed::Ended)) };
    match found.status {
        TurnStatus::Queued => {}
        TurnStatus::Running if found.lease_until_ms.is_some_and(|until| until > now.ms) => {
            if found.worker.as_deref() != Some(worker.as_str()) {
                return Ok(Done::quietly(TurnClaimed::Held));
            }
            return won(db, turn, worker, found.fence as u64);
        }
        TurnStatus::Running => {}
        TurnStatus::Completed | TurnStatus::Failed | TurnStatus::Cancelled => {
            return Ok(Done::quietly(TurnClaimed::Ended));
        }
    }
    if found.rests && !found.cancel_requested {
        if found.due_ms.is_none_or(|due| due > now.ms) {
            return Ok(Done::quietly(TurnClaimed::NotAdmitted));
        }
        found.admitted = wake(db, now, caps, turn)?;
    }
    if !found.admitted {
        let first = open_after(db, &found.session, 0)?.is_none_or(|(_, at)| at >= found.ordinal);
        if !found.cancel_requested || !first {
            return Ok(Done::quietly(TurnClaimed::NotAdmitted));
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
    won(db, turn, worker, (found.fence + 1) as u64)
}

/// The claim that the row says, with its log.
fn won(
    db: &Connection,
    turn: &TurnId,
    worker: &WorkerId,
    fence: u64,
) -> Result<Done<TurnClaimed>, Fault> {
    // In the same transaction, so that the holder before cannot append from this moment on.
    let log_at = match stream_log::take_over(db, &turn.task(), fence)? {
        TakenOver::At { last, sealed: false } => Some(last),
        TakenOver::At { sealed: true, .. } | TakenOver::Stale => None,
    };
    let turn = by_id(db, turn)?.ok_or_else(|| Fault::broken("a claimed turn cannot be found"))?;
    let claim = TurnClaim {
        turn_id: turn.id.clone(),
        session_id: turn.session_id.clone(),
        fence,
        worker: worker.clone(),
    };
    Ok(Done::quietly(TurnClaimed::Granted { claim, turn: Box::new(turn), log_at }))
}

struct Found {
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

fn find(db: &Connection, turn: &TurnId) -> Result<Option<Found>, Fault> {
    let found = db
        .prepare_cached(
            "SELECT session_id, ordinal, status, fence, lease_until_ms, worker, admitted, rests,
                 due_ms, cancel_requested FROM turn WHERE id = ?1",
        )?
        .query_row([turn.as_str()], |row| {
            Ok(Found {
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
