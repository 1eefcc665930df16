//! Claims of executions.

use std::time::Duration;

use futures::future::try_join3;
use ports::leases::{GrantedExecution, JobClaimed};
use protocol::execution::ExecutionStatus;
use protocol::{ExecutionId, WorkerId};
use tokio_postgres::Row;

use super::find::execution_columns;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::leases::seconds;
use crate::postgres::text_param::TextParam;
use crate::rows::executions::execution;
use crate::rules::claim::ClaimCheck;

/// Serializes claims per user, so that the count is exact. Sub-executions do not count, and so need no lock. The key
/// is that of `lock_name`.
const LOCK: &str = "\
    SELECT pg_advisory_xact_lock(hashtextextended('executions:' || user_id, 0))
    FROM execution WHERE id = $1 AND parent_id IS NULL";

/// Of several workers, one finds the row claimable. An execution is due again when its lease has expired; one taken
/// over from a lost holder is already counted.
const CLAIM: &str = concat!(
    "UPDATE execution AS e SET status = 'RUNNING', fence = e.fence + 1, attempt = e.attempt + 1,
         worker = $2, lease_until = clock_timestamp() + $3 * interval '1 second',
         due = clock_timestamp() + $3 * interval '1 second',
         started_at = coalesce(e.started_at, $4), last_advance = NULL
     WHERE e.id = $1
       AND (e.status IN ('QUEUED', 'INCOMPLETE')
            OR e.status = 'RUNNING' AND e.lease_until <= clock_timestamp())
       AND (e.parent_id IS NOT NULL OR e.stop_requested OR $5 > (
           SELECT count(*) FROM execution AS o
           WHERE o.user_id = e.user_id AND o.status = 'RUNNING' AND o.parent_id IS NULL
             AND o.id <> e.id))
     RETURNING ",
    execution_columns!()
);

/// The execution as it is, when the claim failed.
const CURRENT: &str = concat!(
    "SELECT ",
    execution_columns!(),
    ", e.worker, e.lease_until > clock_timestamp() AS is_held FROM execution AS e WHERE e.id = $1"
);

pub(crate) async fn claim(
    store: PostgresStore,
    id: ExecutionId,
    worker: WorkerId,
    ttl: Duration,
) -> Result<JobClaimed, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let (run, with, now) = (TextParam(id.as_str()), TextParam(worker.as_str()), store.wall_us());
    let (ttl, cap) = (seconds(ttl), i64::from(store.caps.executions));
    // Sent at once and so executed in this order; each statement sees what was committed before it began.
    db.prepare(&[LOCK, CLAIM]).await?;
    let (_, row, ()) = try_join3(
        db.query(LOCK, &[&run]),
        db.query_opt(CLAIM, &[&run, &with, &ttl, &now, &cap]),
        db.commit(),
    )
    .await?;
    if let Some(row) = row {
        return claimed(&row, worker);
    }
    match db.query_opt(CURRENT, &[&run]).await? {
        Some(row) => not_claimed(&row, worker),
        None => Ok(JobClaimed::Ended),
    }
}

fn claimed(row: &Row, worker: WorkerId) -> Result<JobClaimed, PostgresError> {
    Ok(JobClaimed::Execution(Box::new(GrantedExecution::new(execution(row)?, worker))))
}

fn not_claimed(row: &Row, worker: WorkerId) -> Result<JobClaimed, PostgresError> {
    match ClaimCheck::read::<ExecutionStatus, _>(row, &worker)? {
        ClaimCheck::Repeated => claimed(row, worker),
        // A lease that expired just now is found by the next attempt.
        ClaimCheck::Expired => Ok(JobClaimed::Held),
        // An execution that was released just now is found by the next attempt, too.
        ClaimCheck::Free => Ok(JobClaimed::AtLimit),
        ClaimCheck::Refused(refusal) => Ok(refusal),
    }
}
