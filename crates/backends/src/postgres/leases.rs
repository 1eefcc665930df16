//! Leases of turns, as times on the clock of the database, which all processes share.

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::{LeaseRenewal, Leases, TurnClaimed};
use ports::{Fenced, PortResult};
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{Seq, TurnId, WorkerId};
use tokio_postgres::Row;

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::operations::rest;
use super::rows::{of_turn, turn_columns};
use super::stream_log::count_fenced;
use super::text_param::TextParam;
use super::{PostgresStore, rows};
use crate::words;

/// One statement: of several workers, one finds the row claimable. It also takes over the stream log, so that the
/// previous holder cannot append from now on. A turn is due again when its lease has expired.
const CLAIM: &str = concat!(
    "WITH t AS (
         UPDATE turn AS c SET status = 'running', fence = c.fence + 1, attempt = c.attempt + 1,
             worker = $2, lease_until = clock_timestamp() + $3 * interval '1 second',
             due = clock_timestamp() + $3 * interval '1 second',
             started_at = coalesce(c.started_at, $4),
             started = coalesce(c.started, clock_timestamp())
         WHERE c.id = $1
           AND (c.status = 'queued' OR c.status = 'running' AND c.lease_until <= clock_timestamp())
           AND (c.admitted OR c.cancel_requested AND NOT EXISTS (
               SELECT 1 FROM turn AS o WHERE o.session_id = c.session_id AND o.ordinal > 0
                 AND o.ordinal < c.ordinal AND o.status IN ('queued', 'running')))
         RETURNING c.*),
     taken AS (
         UPDATE log AS l SET fence = t.fence FROM t WHERE l.task_id = t.id AND l.fence <= t.fence
         RETURNING l.last_seq, l.sealed)
     SELECT ",
    turn_columns!(),
    ", taken.last_seq, taken.sealed
     FROM t",
    of_turn!(),
    "LEFT JOIN taken ON true"
);

/// The turn as it is, when the claim failed.
const CURRENT: &str = concat!(
    "SELECT ",
    turn_columns!(),
    ", t.worker, t.lease_until > clock_timestamp() AS is_held, l.last_seq, l.sealed,
     coalesce(t.status = 'queued' AND t.rests_until <= clock_timestamp(), false) AS has_rested
     FROM turn AS t",
    of_turn!(),
    "LEFT JOIN log AS l ON l.task_id = t.id WHERE t.id = $1"
);

#[async_trait]
impl Leases for PostgresStore {
    async fn claim(
        &self,
        turn: &TurnId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<TurnClaimed> {
        let (store, turn, worker) = (self.clone(), turn.clone(), worker.clone());
        self.write(async move {
            match try_claim(&store, &turn, &worker, ttl).await? {
                ClaimAttempt::Settled(claimed) => Ok(claimed),
                ClaimAttempt::HasRested => {
                    rest::end_rest(&store, &turn).await?;
                    match try_claim(&store, &turn, &worker, ttl).await? {
                        ClaimAttempt::Settled(claimed) => Ok(claimed),
                        ClaimAttempt::HasRested => Ok(TurnClaimed::NotAdmitted),
                    }
                }
            }
        })
        .await
    }

    async fn renew(&self, claim: &TurnClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        let (pool, claim) = (self.pool.clone(), claim.clone());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let claimed = db
                .query_opt(
                    "UPDATE turn SET lease_until = clock_timestamp() + $3 * interval '1 second',
                         due = clock_timestamp() + $3 * interval '1 second'
                     WHERE id = $1 AND fence = $2 AND status = 'running'
                     RETURNING cancel_requested",
                    &[&TextParam(claim.turn_id.as_str()), &(claim.fence as i64), &seconds(ttl)],
                )
                .await?;
            let Some(row) = claimed else {
                count_fenced();
                return Ok(LeaseRenewal::Lost);
            };
            Ok(LeaseRenewal::Held { cancel_requested: rows::get(&row, "cancel_requested")? })
        })
        .await
    }

    async fn hand_back(&self, claim: &TurnClaim) -> PortResult<Fenced<()>> {
        let (pool, claim) = (self.pool.clone(), claim.clone());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let changed = db
                .query_opt(
                    "UPDATE turn SET status = 'queued', due = clock_timestamp(), lease_until = NULL,
                         worker = NULL, attempt = greatest(0, attempt - 1)
                     WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id",
                    &[&TextParam(claim.turn_id.as_str()), &(claim.fence as i64)],
                )
                .await?;
            if changed.is_none() {
                count_fenced();
                return Ok(Fenced::Stale);
            }
            Ok(Fenced::Done(()))
        })
        .await
    }
}

enum ClaimAttempt {
    Settled(TurnClaimed),
    /// The turn has rested for its full time, and needs a concurrency permit again.
    HasRested,
}

async fn try_claim(
    store: &PostgresStore,
    turn: &TurnId,
    worker: &WorkerId,
    ttl: Duration,
) -> Result<ClaimAttempt, PostgresError> {
    let db = PooledConnection::get(&store.pool).await?;
    let (id, with, now) = (TextParam(turn.as_str()), TextParam(worker.as_str()), store.wall_us());
    if let Some(row) = db.query_opt(CLAIM, &[&id, &with, &seconds(ttl), &now]).await? {
        return Ok(ClaimAttempt::Settled(claimed(&row, worker.clone())?));
    }
    let Some(row) = db.query_opt(CURRENT, &[&id]).await? else {
        return Ok(ClaimAttempt::Settled(TurnClaimed::Ended));
    };
    if rows::get(&row, "has_rested")? {
        return Ok(ClaimAttempt::HasRested);
    }
    Ok(ClaimAttempt::Settled(not_claimed(&row, worker.clone())?))
}

/// Seconds as a statement parameter; an absurdly long duration becomes a very long one.
pub(super) fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64().min(1e9)
}

/// The claim as the row has it.
fn claimed(row: &Row, worker: WorkerId) -> Result<TurnClaimed, PostgresError> {
    let turn = rows::turn(row)?;
    let sealed: Option<bool> = rows::get(row, "sealed")?;
    let last: Option<i64> = rows::get(row, "last_seq")?;
    let claim = TurnClaim {
        turn_id: turn.id.clone(),
        session_id: turn.session_id.clone(),
        fence: turn.fence,
        worker,
    };
    let log_at = last.filter(|_| sealed == Some(false)).map(|last| last as Seq);
    Ok(TurnClaimed::Granted { claim, turn: Box::new(turn), log_at })
}

fn not_claimed(row: &Row, worker: WorkerId) -> Result<TurnClaimed, PostgresError> {
    match rows::word(row, "status", words::status)? {
        TurnStatus::Queued => Ok(TurnClaimed::NotAdmitted),
        TurnStatus::Running => {
            let holder: Option<String> = rows::get(row, "worker")?;
            let is_held: Option<bool> = rows::get(row, "is_held")?;
            // A worker whose first reply was lost claims again.
            if is_held == Some(true) && holder.as_deref() == Some(worker.as_str()) {
                return claimed(row, worker);
            }
            // A lease that expired just now is found by the next attempt.
            Ok(TurnClaimed::Held)
        }
        TurnStatus::Completed | TurnStatus::Failed | TurnStatus::Cancelled => {
            Ok(TurnClaimed::Ended)
        }
    }
}
