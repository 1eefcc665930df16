//! Who may run: each slot has so many places, and the turns that wait for one get it in the order they were accepted.

use protocol::limits::Caps;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fault::Fault;
use super::super::{Moment, rows};

/// What the turns of a session count for: its user, or the session itself when it has none.
pub(super) fn slot_of(db: &Connection, session: &SessionId) -> Result<String, Fault> {
    let slot = db
        .prepare_cached("SELECT ifnull(user_id, id) FROM session WHERE id = ?1")?
        .query_row([session.as_str()], |row| row.get(0))?;
    Ok(slot)
}

/// Turns of a slot that have not ended, and those of them that have a place.
pub(super) fn taken(db: &Connection, slot: &str) -> Result<(u32, u32), Fault> {
    let taken = db
        .prepare_cached(
            "SELECT count(*), ifnull(sum(admitted), 0) FROM turn
             WHERE slot = ?1 AND status IN ('queued', 'running')",
        )?
        .query_row([slot], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(taken)
}

/// Gives the free places of a slot to the turns that have waited longest, and makes these due.
pub(in super::super) fn admit(
    db: &Connection,
    now: Moment,
    caps: Caps,
    slot: &str,
) -> Result<Vec<TurnId>, Fault> {
    let (_, mut admitted) = taken(db, slot)?;
    let mut due = Vec::new();
    while admitted < caps.running {
        // Of each session only the first open turn may run. The words of the partial index stand here in full: SQLite
        // uses it for no condition that merely follows from them, and would read the whole table instead.
        let next: Option<TurnId> = db
            .prepare_cached(
                "UPDATE turn SET admitted = 1, due_ms = ?2 WHERE rowid = (
                     SELECT min(t.rowid) FROM turn AS t
                     WHERE t.slot = ?1 AND t.status IN ('queued', 'running')
                       AND t.status = 'queued' AND t.admitted = 0
                       AND NOT EXISTS (
                         SELECT 1 FROM turn AS o WHERE o.session_id = t.session_id
                           AND o.ordinal < t.ordinal AND o.status IN ('queued', 'running')))
                 RETURNING id",
            )?
            .query_row(params![slot, now.ms], |row| rows::id(row, "id"))
            .optional()?;
        let Some(next) = next else { break };
        due.push(next);
        admitted += 1;
    }
    Ok(due)
}

/// The same for every slot in which something waits: places may have become free while nobody looked.
pub(in super::super) fn admit_all(db: &Connection, now: Moment, caps: Caps) -> Result<(), Fault> {
    let slots: Vec<String> = db
        .prepare_cached(
            "SELECT DISTINCT slot FROM turn
             WHERE status IN ('queued', 'running') AND status = 'queued' AND admitted = 0",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for slot in slots {
        admit(db, now, caps, &slot)?;
    }
    Ok(())
}
