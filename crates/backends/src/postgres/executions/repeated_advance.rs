//! Replies to an advance that was not written, above all to a repeated one, whose first reply was lost.

use ports::Fenced;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::execution::{ExecutionClaim, ExecutionStatus};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rules::advance::{LastAdvance, reply_to_repeated};

pub(crate) async fn reply(
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
    let last = match row {
        None => None,
        Some(row) => {
            let status = row.word("status")?;
            Some(LastAdvance {
                status,
                events: row.number("events")?,
                fingerprint: row.optional_bytes("last_advance")?.map(<[u8]>::to_vec),
                // Under the same fence a rested execution does not run again, so a running one did not rest.
                decided: advance.then == AfterAdvance::AwaitReviews
                    && status == ExecutionStatus::Running,
            })
        }
    };
    Ok(reply_to_repeated(last, advance, digest)?)
}
