//! Adds token usage to the turn and to its session, so that both always agree.

use protocol::turn::TurnClaim;
use protocol::usage::Usage;
use rusqlite::{Connection, params};

use crate::sqlite::error::SqliteError;

pub(crate) fn add(db: &Connection, claim: &TurnClaim, usage: &Usage) -> Result<(), SqliteError> {
    let cost = usage.cost_microdollars.map(|cost| cost as i64);
    db.prepare_cached(
        "UPDATE turn SET prompt_tokens = prompt_tokens + ?2,
             completion_tokens = completion_tokens + ?3,
             cache_read_tokens = cache_read_tokens + ?4,
             cache_write_tokens = cache_write_tokens + ?5,
             cost_microdollars = CASE WHEN ?6 IS NULL THEN cost_microdollars
                                      ELSE ifnull(cost_microdollars, 0) + ?6 END
         WHERE id = ?1",
    )?
    .execute(params![
        claim.turn_id.as_str(),
        usage.prompt_tokens as i64,
        usage.completion_tokens as i64,
        usage.cache_read_tokens as i64,
        usage.cache_write_tokens as i64,
        cost,
    ])?;
    db.prepare_cached(
        "UPDATE session SET total_prompt_tokens = total_prompt_tokens + ?2,
             total_completion_tokens = total_completion_tokens + ?3,
             total_cost_microdollars = total_cost_microdollars + ?4
         WHERE id = ?1",
    )?
    .execute(params![
        claim.session_id.as_str(),
        usage.prompt_tokens as i64,
        usage.completion_tokens as i64,
        cost.unwrap_or(0),
    ])?;
    Ok(())
}
