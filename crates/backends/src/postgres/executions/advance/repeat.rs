//! The last advance when it comes again, because its answer was not heard.

use ports::Fenced;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::execution::{ExecutionClaim, ExecutionStatus};

use super::super::super::connection::Connection;
use super::super::super::fault::Fault;
use super::super::super::rows;
use super::super::super::stream_log::count_fenced;
use super::super::super::text::Text;
use super::super::row::status;

/// What to say to one that did not fit: the answer it had, or why it does not.
pub(super) async fn answer(
    db: &Connection,
    claim: &ExecutionClaim,
    advance: &ExecutionAdvance,
    digest: &[u8],
) -> Result<Fenced<ExecutionAdvanced>, Fault> {
    let row = db
        .query_opt(
            "SELECT status, events, last_advance FROM execution WHERE id = $1 AND fence = $2",
            &[&Text(claim.execution_id.as_str()), &(claim.fence as i64)],
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
        // Under the same fence one that rested is not at work again, so one that is did not rest.
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
    Err(Fault::broken(format!("an advance after event {after} of a run that is at {at}")))
}
