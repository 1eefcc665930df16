//! Advances a running execution and ends it: each advance is applied completely or not at all.

mod advance_statement;
mod repeated_advance;

use ports::Fenced;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::execution::ExecutionClaim;

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::text_param::TextParam;
use super::super::{PostgresStore, credits, reviews};
use crate::fingerprint::fingerprint;

pub(super) async fn advance(
    store: PostgresStore,
    claim: ExecutionClaim,
    advance: ExecutionAdvance,
) -> Result<Fenced<ExecutionAdvanced>, PostgresError> {
    check(&advance)?;
    let db = if is_one_statement(&advance) {
        PooledConnection::get(&store.pool).await?
    } else {
        PooledConnection::begin(&store.pool).await?
    };
    let wall_us = store.wall_us();
    let digest = fingerprint(&advance);
    let Some(user) = advance_statement::write(&db, &claim, &advance, &digest, wall_us).await?
    else {
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

fn check(advance: &ExecutionAdvance) -> Result<(), PostgresError> {
    if (advance.count == 0) != advance.events.is_empty() {
        return Err(PostgresError::broken("the event count does not match the events"));
    }
    match advance.then {
        AfterAdvance::End { status, .. } if !status.is_final() => Err(PostgresError::broken(
            format!("{} is not a final execution status", status.as_str()),
        )),
        _ => Ok(()),
    }
}

/// Most advances are: a transaction would cost them two more round trips.
fn is_one_statement(advance: &ExecutionAdvance) -> bool {
    advance.charges.is_empty()
        && advance.reviews.is_empty()
        && advance.then != AfterAdvance::AwaitReviews
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
