//! Recognizes a repeated advance, whose first reply was lost.

use ports::Fenced;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::execution::{ExecutionClaim, ExecutionStatus};

use super::super::super::connection::PooledConnection;
use super::super::super::error::PostgresError;
use super::super::super::rows;
use super::super::super::stream_log::count_fenced;
use super::super::super::text_param::TextParam;
use super::super::row::status;

/// The reply to an advance that did not fit: the one it had before, or the reason.
pub(super) async fn reply(
    db: &PooledConnection,
    claim: &ExecutionClaim,
    advance: &ExecutionAdvance,
    digest: &[u8],
) -> Result<Fenced<ExecutionAdvanced>, PostgresError> {
    let row = db
        .query_opt(
            "SELECT status, events, last_advance FROM execution WHERE id = $1 AND fence = $2",
            &[&TextParam(claim.execution_id.as_str()), &(claim.fence as i64)],
        )
        .await?;
    db.commit().await?;
    let Some(row) = row else {
        count_fenced();
        return Ok(Fenced::Stale);
    };
    let status = status(&row)?;
    let last: Option<Vec<u8>> = rows::get(&row, "last_advance")?;
    if last.as_deref() == Some(digest) {
        // Under the same fence a rested execution does not run again, so a running one did not rest.
        let decided =
            advance.then == AfterAdvance::AwaitReviews && status == ExecutionStatus::Running;
        return Ok(Fenced::Done(if decided {
            ExecutionAdvanced::Decided
        } else {
            ExecutionAdvanced::Done
        }));
    }
    if status != ExecutionStatus::Running {
        count_fenced();
        return Ok(Fenced::Stale);
    }
    let (at, after) = (rows::number(&row, "events")?, advance.after);
    Err(PostgresError::broken(format!("an advance after {after} events, but the journal has {at}")))
}
