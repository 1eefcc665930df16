//! Whether a turn may start another one by a tool call.

use ports::store::{ParentTurn, TurnOpened};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;

/// Why a call of this parent may not start a turn; `None` when it may.
///
/// Locks the parent, so that its cancellation or end either comes before the new turn or includes it. Operations do
/// not count: they have a limit per session.
pub(crate) async fn refusal(
    db: &PooledConnection,
    parent: &ParentTurn,
) -> Result<Option<TurnOpened>, PostgresError> {
    let turn = TextParam(parent.turn.as_str());
    let at_work = db
        .query_opt(
            "SELECT id FROM turn
             WHERE id = $1 AND status IN ('queued', 'running') AND NOT cancel_requested FOR UPDATE",
            &[&turn],
        )
        .await?;
    if at_work.is_none() {
        return Ok(Some(TurnOpened::ParentEnded));
    }
    let row = db
        .query_one(
            "SELECT count(*) AS children FROM turn AS t
             WHERE t.parent_turn_id = $1 AND t.status IN ('queued', 'running')
               AND NOT EXISTS (SELECT 1 FROM operation AS p WHERE p.turn_id = t.id)",
            &[&turn],
        )
        .await?;
    let too_many = row.number("children")? >= u64::from(parent.fan_out);
    Ok(too_many.then_some(TurnOpened::TooManyChildren))
}
