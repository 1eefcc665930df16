//! Whether the turn whose call starts another one may do so.

use ports::store::ParentTurn;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::text::Text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Ready,
    /// It has ended, or is being cancelled.
    Ended,
    /// It has as many at work as it may have.
    FannedOut,
}

/// Locks the parent, so that its cancel or its end comes before the new turn or sees it. Operations do not count: the
/// session has a limit of its own for them.
pub(super) async fn lock(db: &Connection, parent: &ParentTurn) -> Result<Readiness, Fault> {
    let turn = Text(parent.turn.as_str());
    let at_work = db
        .query_opt(
            "SELECT id FROM turn
             WHERE id = $1 AND status IN ('queued', 'running') AND NOT cancel_requested FOR UPDATE",
            &[&turn],
        )
        .await?;
    if at_work.is_none() {
        return Ok(Readiness::Ended);
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
    Ok(if may { Readiness::Ready } else { Readiness::FannedOut })
}
