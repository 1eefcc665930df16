//! The statement that advances an execution: updates its row and appends to its journal at once, only under the
//! current fence and at the position that the writer knows.

use ports::store::{AfterAdvance, ExecutionAdvance};
use protocol::UserId;
use protocol::execution::ExecutionClaim;

use super::super::super::connection::PooledConnection;
use super::super::super::error::PostgresError;
use super::super::super::json::written;
use super::super::super::rows;
use super::super::super::text_param::{TextParam, optional};

/// `$1` to `$7`: the execution, its fence, the position, the number of events, the statistics, the digest, and the
/// events.
macro_rules! advance_statement {
    ($ends:literal, $withdraws:literal) => {
        concat!(
            "WITH moved AS (
                 UPDATE execution SET events = events + $4, stats = $5, last_advance = $6",
            $ends,
            " WHERE id = $1 AND fence = $2 AND status = 'RUNNING' AND events = $3
                 RETURNING number, id, user_id),
             written AS (
                 INSERT INTO execution_journal (run, first, count, body)
                 SELECT number, $3, $4, $7 FROM moved WHERE $4 > 0)",
            $withdraws,
            " SELECT user_id FROM moved"
        )
    };
}

const GOES_ON: &str = advance_statement!("", "");
const ENDS: &str = advance_statement!(
    ", status = $8, error = $9, ended_at = $10, worker = NULL, lease_until = NULL, due = NULL",
    ", withdrawn AS (
         DELETE FROM review AS r USING moved AS m
         WHERE r.execution_id = m.id AND r.user_id = m.user_id AND r.status = 'WAITING')"
);

/// Returns the user of the execution. `None` when the claim is stale, or the position differs.
pub(super) async fn write(
    db: &PooledConnection,
    claim: &ExecutionClaim,
    advance: &ExecutionAdvance,
    digest: &[u8],
    wall_us: i64,
) -> Result<Option<UserId>, PostgresError> {
    let (run, fence) = (TextParam(claim.execution_id.as_str()), claim.fence as i64);
    let (after, count) = (advance.after as i64, advance.count as i64);
    let (stats, events) = (written(&advance.stats)?, &advance.events[..]);
    let stats = TextParam(&stats);
    let moved = match &advance.then {
        AfterAdvance::Continue | AfterAdvance::AwaitReviews => {
            db.query_opt(GOES_ON, &[&run, &fence, &after, &count, &stats, &digest, &events]).await?
        }
        AfterAdvance::End { status, error } => {
            let error = error.as_ref().map(written).transpose()?;
            let (status, error) = (status.as_str(), optional(error.as_deref()));
            let with: [&(dyn tokio_postgres::types::ToSql + Sync); 10] =
                [&run, &fence, &after, &count, &stats, &digest, &events, &status, &error, &wall_us];
            db.query_opt(ENDS, &with).await?
        }
    };
    moved.map(|row| rows::id(&row, "user_id")).transpose()
}
