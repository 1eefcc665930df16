//! Whether a turn may start another one by a tool call.

use ports::store::ParentTurn;

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::rows;
use super::super::text_param::TextParam;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParentReadiness {
    Ready,
    /// It has ended, or is being cancelled.
    Ended,
    /// It has reached its limit of open sub-turns.
    FannedOut,
}

/// Locks the parent, so that its cancellation or end either comes before the new turn or includes it. Operations do
/// not count: they have a limit per session.
pub(super) async fn lock(
    db: &PooledConnection,
    parent: &ParentTurn,
) -> Result<ParentReadiness, PostgresError> {
    let turn = TextParam(parent.turn.as_str());
    let at_work = db
        .query_opt(
            "SELECT id FROM turn
             WHERE id = $1 AND status IN ('queued', 'running') AND NOT cancel_requested FOR UPDATE",
            &[&turn],
        )
        .await?;
    if at_work.is_none() {
        return Ok(ParentReadiness::Ended);
    }
    let row = db
        .query_one(
            "SELECT count(*) AS children FROM turn AS t
             WHERE t.parent_turn_id = $1 AND t.status IN ('queued', 'running')
               AND NOT EXISTS (SELECT 1 FROM operation AS p WHERE p.turn_id = t.id)",
            &[&turn],
        )
        .await?;
    let children = rows::number(&row, "children")?;
    let may = children < u64::from(parent.fan_out);
    Ok(if may { ParentReadiness::Ready } else { ParentReadiness::FannedOut })
}
