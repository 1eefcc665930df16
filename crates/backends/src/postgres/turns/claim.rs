//! Claims of turns.

use std::time::Duration;

use ports::leases::{GrantedTurn, JobClaimed};
use protocol::turn::TurnStatus;
use protocol::{TurnId, WorkerId};
use tokio_postgres::Row;

use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::leases::seconds;
use crate::postgres::operations::rest;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::turns::{of_turn, turn, turn_columns};
use crate::rules::claim::ClaimCheck;

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

pub(crate) async fn claim(
    store: PostgresStore,
    turn: TurnId,
    worker: WorkerId,
    ttl: Duration,
) -> Result<JobClaimed, PostgresError> {
    match try_claim(&store, &turn, &worker, ttl).await? {
        ClaimAttempt::Settled(claimed) => Ok(claimed),
        ClaimAttempt::HasRested => {
            rest::end_rest(&store, &turn).await?;
            match try_claim(&store, &turn, &worker, ttl).await? {
                ClaimAttempt::Settled(claimed) => Ok(claimed),
                ClaimAttempt::HasRested => Ok(JobClaimed::NotReady),
            }
        }
    }
}

enum ClaimAttempt {
    Settled(JobClaimed),
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
        return Ok(ClaimAttempt::Settled(JobClaimed::Ended));
    };
    if row.flag("has_rested")? {
        return Ok(ClaimAttempt::HasRested);
    }
    Ok(ClaimAttempt::Settled(not_claimed(&row, worker.clone())?))
}

/// The claim as the row has it.
fn claimed(row: &Row, worker: WorkerId) -> Result<JobClaimed, PostgresError> {
    let turn = turn(row)?;
    let sealed = row.optional_flag("sealed")?;
    let last = row.optional_number("last_seq")?;
    let log_at = last.filter(|_| sealed == Some(false));
    Ok(JobClaimed::Turn(Box::new(GrantedTurn::new(turn, worker, log_at))))
}

fn not_claimed(row: &Row, worker: WorkerId) -> Result<JobClaimed, PostgresError> {
    match ClaimCheck::read::<TurnStatus, _>(row, &worker)? {
        ClaimCheck::Repeated => claimed(row, worker),
        // A lease that expired just now is found by the next attempt.
        ClaimCheck::Expired => Ok(JobClaimed::Held),
        ClaimCheck::Free => Ok(JobClaimed::NotReady),
        ClaimCheck::Refused(refusal) => Ok(refusal),
    }
}
