//! Renews or releases the lease of an execution.

use std::time::Duration;

use ports::Fenced;
use ports::leases::LeaseRenewal;
use protocol::execution::ExecutionClaim;

use super::super::PostgresStore;
use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::leases::seconds;
use super::super::rows;
use super::super::stream_log::count_fenced;
use super::super::text_param::TextParam;

pub(super) async fn renew(
    store: PostgresStore,
    claim: ExecutionClaim,
    ttl: Duration,
) -> Result<LeaseRenewal, PostgresError> {
    let db = PooledConnection::get(&store.pool).await?;
    let claimed = db
        .query_opt(
            "UPDATE execution SET lease_until = clock_timestamp() + $3 * interval '1 second',
                 due = clock_timestamp() + $3 * interval '1 second'
             WHERE id = $1 AND fence = $2 AND status = 'RUNNING'
             RETURNING stop_requested",
            &[&TextParam(claim.execution_id.as_str()), &(claim.fence as i64), &seconds(ttl)],
        )
        .await?;
    let Some(row) = claimed else {
        count_fenced();
        return Ok(LeaseRenewal::Lost);
    };
    Ok(LeaseRenewal::Held { cancel_requested: rows::get(&row, "stop_requested")? })
}

pub(super) async fn hand_back(
    store: PostgresStore,
    claim: ExecutionClaim,
) -> Result<Fenced<()>, PostgresError> {
    let db = PooledConnection::get(&store.pool).await?;
    let changed = db
        .query_opt(
            "UPDATE execution SET status = 'QUEUED', due = clock_timestamp(), lease_until = NULL,
                 worker = NULL, attempt = greatest(0, attempt - 1)
             WHERE id = $1 AND fence = $2 AND status = 'RUNNING' RETURNING id",
            &[&TextParam(claim.execution_id.as_str()), &(claim.fence as i64)],
        )
        .await?;
    if changed.is_none() {
        count_fenced();
        return Ok(Fenced::Stale);
    }
    Ok(Fenced::Done(()))
}
