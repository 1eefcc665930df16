//! What a running execution writes down as it goes, and the one way it ends: all of an advance, or nothing.

mod repeat;
mod step;

use ports::Fenced;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::execution::ExecutionClaim;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::text::Text;
use super::super::{Postgres, credits, reviews};
use crate::fingerprint::fingerprint;

pub(super) async fn advance(
    store: Postgres,
    claim: ExecutionClaim,
    advance: ExecutionAdvance,
) -> Result<Fenced<ExecutionAdvanced>, Fault> {
    check(&advance)?;
    let db = if is_one_statement(&advance) {
        Connection::get(&store.pool).await?
    } else {
        Connection::begin(&store.pool).await?
    };
    let wall_us = store.wall_us();
    let digest = fingerprint(&advance);
    let Some(user) = step::write(&db, &claim, &advance, &digest, wall_us).await? else {
        return repeat::answer(&db, &claim, &advance, &digest).await;
    };
    let advanced = match advance.then {
        // With the end of a run its questions end as well.
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

fn check(advance: &ExecutionAdvance) -> Result<(), Fault> {
    if (advance.count == 0) != advance.events.is_empty() {
        return Err(Fault::broken("an advance does not have as many events as it says"));
    }
    match advance.then {
        AfterAdvance::End { status, .. } if !status.is_final() => {
            Err(Fault::broken(format!("{} is no end of a run", status.as_str())))
        }
        _ => Ok(()),
    }
}

/// Most of them are: a transaction would cost them two more answers of the server.
fn is_one_statement(advance: &ExecutionAdvance) -> bool {
    advance.charges.is_empty()
        && advance.reviews.is_empty()
        && advance.then != AfterAdvance::AwaitReviews
}

/// Whoever decides locks the row of the run first, as this transaction has, so none can slip in between. A run that is
/// being stopped does not rest: somebody has to end it.
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

async fn rest(db: &Connection, claim: &ExecutionClaim) -> Result<ExecutionAdvanced, Fault> {
    let fence = claim.fence as i64;
    let rests = db.query_opt(REST, &[&Text(claim.execution_id.as_str()), &fence]).await?;
    Ok(if rests.is_some() { ExecutionAdvanced::Done } else { ExecutionAdvanced::Decided })
}
