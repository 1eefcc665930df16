//! Advances a running execution and ends it: each advance is applied completely or not at all.

use ports::Fenced;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::UserId;
use protocol::execution::ExecutionClaim;
use tokio_postgres::types::ToSql;

use super::repeated_advance;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::{TextParam, optional};
use crate::postgres::{PostgresStore, credits, reviews};
use crate::rows::StoreRow;
use crate::rules::advance::{check_advance, fingerprint};
use crate::rules::json::to_json;

pub(crate) async fn advance(
    store: PostgresStore,
    claim: ExecutionClaim,
    advance: ExecutionAdvance,
) -> Result<Fenced<ExecutionAdvanced>, PostgresError> {
    check_advance(&advance)?;
    let db = if is_one_statement(&advance) {
        PooledConnection::get(&store.pool).await?
    } else {
        PooledConnection::begin(&store.pool).await?
    };
    let wall_us = store.wall_us();
    let digest = fingerprint(&advance);
    let Some(user) = write(&db, &claim, &advance, &digest, wall_us).await? else {
        return repeated_advance::reply(&db, &claim, &advance, &digest).await;
    };
    let advanced = match advance.then {
        // The end of an execution withdraws its reviews.
        AfterAdvance::End { .. } => ExecutionAdvanced::Done,
        AfterAdvance::Continue => {
            reviews::insert_all(&db, &advance.reviews).await?;
            ExecutionAdvanced::Done
        }
        AfterAdvance::AwaitReviews => {
            reviews::insert_all(&db, &advance.reviews).await?;
            rest(&db, &claim).await?
        }
    };
    if !advance.charges.is_empty() {
        credits::charge(&db, &user, &advance.charges, wall_us).await?;
    }
    db.commit().await?;
    Ok(Fenced::Done(advanced))
}

/// Most advances are: a transaction would cost them two more round trips.
fn is_one_statement(advance: &ExecutionAdvance) -> bool {
    advance.charges.is_empty()
        && advance.reviews.is_empty()
        && advance.then != AfterAdvance::AwaitReviews
}

/// Updates the row and appends to the journal at once, only under the current fence and at the position that the writer
/// knows.
///
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
async fn write(
    db: &PooledConnection,
    claim: &ExecutionClaim,
    advance: &ExecutionAdvance,
    digest: &[u8],
    wall_us: i64,
) -> Result<Option<UserId>, PostgresError> {
    let (run, fence) = (TextParam(claim.execution_id.as_str()), claim.fence as i64);
    let (after, count) = (advance.after as i64, advance.count as i64);
    let (stats, events) = (to_json(&advance.stats)?, &advance.events[..]);
    let stats = TextParam(&stats);
    let moved = match &advance.then {
        AfterAdvance::Continue | AfterAdvance::AwaitReviews => {
            db.query_opt(GOES_ON, &[&run, &fence, &after, &count, &stats, &digest, &events]).await?
        }
        AfterAdvance::End { status, error } => {
            let error = error.as_ref().map(to_json).transpose()?;
            let (status, error) = (status.as_str(), optional(error.as_deref()));
            let with: [&(dyn ToSql + Sync); 10] =
                [&run, &fence, &after, &count, &stats, &digest, &events, &status, &error, &wall_us];
            db.query_opt(ENDS, &with).await?
        }
    };
    moved.map(|row| row.id("user_id")).transpose()
}

/// Deciding a review locks the row of the execution first, as this transaction has, so no decision can be missed. An
/// execution that is being stopped does not rest: a worker has to end it.
const REST: &str = "\
    UPDATE execution AS e SET
        status = CASE WHEN stop_requested THEN 'QUEUED' ELSE 'REVIEW' END,
        due = CASE WHEN stop_requested THEN clock_timestamp() END,
        worker = NULL, lease_until = NULL, attempt = greatest(0, attempt - 1)
    WHERE id = $1 AND fence = $2 AND status = 'RUNNING'
      AND (stop_requested OR EXISTS (
        SELECT 1 FROM review AS r WHERE r.execution_id = e.id AND r.user_id = e.user_id
          AND r.status = 'WAITING'))
    RETURNING id";

async fn rest(
    db: &PooledConnection,
    claim: &ExecutionClaim,
) -> Result<ExecutionAdvanced, PostgresError> {
    let fence = claim.fence as i64;
    let rests = db.query_opt(REST, &[&TextParam(claim.execution_id.as_str()), &fence]).await?;
    Ok(if rests.is_some() { ExecutionAdvanced::Done } else { ExecutionAdvanced::Decided })
}
