//! Turns that were started by the calls of others.

use ports::store::{ParentTurn, TurnOpened};
use protocol::session::Owner;
use protocol::turn::Turn;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, params};

use super::super::fault::Fault;
use super::super::job::Done;
use super::super::{Moment, rows, sessions};
use super::by_id;

/// Why a call of this parent may not start a turn, if it may not.
pub(super) fn refusal(db: &Connection, parent: &ParentTurn) -> Result<Option<TurnOpened>, Fault> {
    let at_work = db
        .prepare_cached(
            "SELECT 1 FROM turn
             WHERE id = ?1 AND status IN ('queued', 'running') AND cancel_requested = 0",
        )?
        .exists([parent.turn.as_str()])?;
    if !at_work {
        return Ok(Some(TurnOpened::ParentEnded));
    }
    // Its operations have a limit of their own.
    let children: u32 = db
        .prepare_cached(
            "SELECT count(*) FROM turn AS t
             WHERE t.parent_turn_id = ?1 AND t.status IN ('queued', 'running')
               AND NOT EXISTS (SELECT 1 FROM operation AS p WHERE p.turn_id = t.id)",
        )?
        .query_row([parent.turn.as_str()], |row| row.get(0))?;
    Ok((children >= parent.fan_out).then_some(TurnOpened::TooManyChildren))
}

/// Marks what is open of the session and of everything that its turns have started, ended ones among them.
pub(super) fn request_cancel(
    db: &Connection,
    now: Moment,
    owner: &Owner,
    session: &SessionId,
) -> Result<Done<Vec<Turn>>, Fault> {
    if sessions::find(db, owner, session)?.is_none() {
        return Ok(Done::quietly(Vec::new()));
    }
    // Turns of this session are all on the first level, so a turn is met once, whoever started it.
    let open: Vec<TurnId> = db
        .prepare_cached(
            "WITH RECURSIVE tree (id, level) AS (
                 SELECT id, 0 FROM turn WHERE session_id = ?1
                 UNION ALL
                 SELECT t.id, tree.level + 1 FROM tree JOIN turn AS t ON t.parent_turn_id = tree.id
                 WHERE t.session_id <> ?1)
             SELECT t.id FROM tree JOIN turn AS t ON t.id = tree.id
             WHERE t.status IN ('queued', 'running') ORDER BY tree.level, t.rowid",
        )?
        .query_map([session.as_str()], |row| rows::id(row, "id"))?
        .collect::<Result<_, _>>()?;
    let mut marked = Vec::with_capacity(open.len());
    for turn in &open {
        // One that rests would not be looked at before its time is over.
        db.prepare_cached(
            "UPDATE turn SET cancel_requested = 1, due_ms = iif(rests = 1, ?2, due_ms) WHERE id = ?1",
        )?
        .execute(params![turn.as_str(), now.ms])?;
        marked.extend(by_id(db, turn)?);
    }
    Ok(Done::quietly(marked))
}
