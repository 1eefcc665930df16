//! Adds token usage to the turn and to its session, so that both always agree.

use futures::future::try_join;
use protocol::turn::TurnClaim;
use protocol::usage::Usage;

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;

pub(crate) async fn add(
    db: &PooledConnection,
    claim: &TurnClaim,
    usage: &Usage,
) -> Result<(), PostgresError> {
    if *usage == Usage::default() {
        return Ok(());
    }
    let cost = usage.cost_microdollars.map(|cost| cost as i64);
    let (prompt, completion) = (usage.prompt_tokens as i64, usage.completion_tokens as i64);
    try_join(
        db.query(
            "UPDATE session SET total_prompt_tokens = total_prompt_tokens + $2,
                 total_completion_tokens = total_completion_tokens + $3,
                 total_cost_microdollars = total_cost_microdollars + $4
             WHERE id = $1",
            &[&TextParam(claim.session_id.as_str()), &prompt, &completion, &cost.unwrap_or(0)],
        ),
        db.query(
            "UPDATE turn SET prompt_tokens = prompt_tokens + $2,
                 completion_tokens = completion_tokens + $3,
                 cache_read_tokens = cache_read_tokens + $4,
                 cache_write_tokens = cache_write_tokens + $5,
                 cost_microdollars = CASE WHEN $6::bigint IS NULL THEN cost_microdollars
                                          ELSE coalesce(cost_microdollars, 0) + $6 END
             WHERE id = $1",
            &[
                &TextParam(claim.turn_id.as_str()),
                &prompt,
                &completion,
                &(usage.cache_read_tokens as i64),
                &(usage.cache_write_tokens as i64),
                &cost,
            ],
        ),
    )
    .await?;
    Ok(())
}
