//! Who may run: each slot has so many places, and the turns that wait for one get it in the order they were accepted.

use protocol::limits::UserLimits;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fault::Fault;
use super::super::{Moment, rows};

/// What the turns of a session count for: its user, or the session itself when it has none.
pub(in super::super) fn slot_of(db: &Connection, session: &SessionId) -> Result<String, Fault> {
    let slot = db
        .prepare_cached("SELECT ifnull(user_id, id) FROM session WHERE id = ?1")?
        .query_row([session.as_str()], |row| row.get(0))?;
    Ok(slot)
}

/// What this turn counts for, which stays when its session is given to a user.
pub(in super::super) fn slot_of_turn(db: &Connection, turn: &TurnId) -> Result<String, Fault> {
    let slot = db
        .prepare_cached("SELECT slot FROM turn WHERE id = ?1")?
        .query_row([turn.as_str()], |row| row.get(0))?;
    Ok(slot)
}

/// What is under way in a slot.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Taken {
    /// Turns that have not ended, without operations that have not lined up.
    pub(in super::super) in_flight: u32,
    /// Turns that have a place and use it.
    pub(in super::super) places: u32,
}

pub(in super::super) fn taken(db: &Connection, slot: &str) -> Result<Taken, Fault> {
    let taken = db
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE ordinal > 0),
                 count(*) FILTER (WHERE admitted = 1 AND aside = 0)
             FROM turn WHERE slot = ?1 AND status IN ('queued', 'running')",
        )?
        .query_row([slot], |row| Ok(Taken { in_flight: row.get(0)?, places: row.get(1)? }))?;
    Ok(taken)
}

/// Gives the free places of a slot to turns that want theirs back, then to those that have waited longest, and makes
/// the latter due.
pub(in super::super) fn admit(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    slot: &str,
) -> Result<Vec<TurnId>, Fault> {
    let mut places = taken(db, slot)?.places;
    let mut due = Vec::new();
    while places < caps.running {
        if !bring_one_back(db, slot)? {
            let Some(next) = admit_one(db, now, slot)? else { break };
            due.push(next);
        }
        places += 1;
    }
    Ok(due)
}

/// The same for every slot in which something waits: places may have become free while nobody looked.
pub(in super::super) fn admit_all(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
) -> Result<(), Fault> {
    let slots: Vec<String> = db
        .prepare_cached(
            "SELECT DISTINCT slot FROM turn WHERE status IN ('queued', 'running')
               AND (status = 'queued' AND admitted = 0 AND rests = 0 OR aside = 2)",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for slot in slots {
        admit(db, now, caps, &slot)?;
    }
    Ok(())
}

/// Ends the rest of a turn: from now on it waits for a place like others, and gets it at once when one is free. Says
/// whether it did.
pub(in super::super) fn wake(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    turn: &TurnId,
) -> Result<bool, Fault> {
    // One that is cancelled needs no place and stays due.
    db.prepare_cached(
        "UPDATE turn SET rests = 0, due_ms = iif(cancel_requested = 1, due_ms, NULL)
         WHERE id = ?1 AND rests = 1",
    )?
    .execute([turn.as_str()])?;
    let admitted = admit(db, now, caps, &slot_of_turn(db, turn)?)?;
    Ok(admitted.contains(turn))
}

/// The worker of such a turn asks again, so nobody needs to be told.
fn bring_one_back(db: &Connection, slot: &str) -> Result<bool, Fault> {
    let brought = db
        .prepare_cached(
            "UPDATE turn SET aside = 0 WHERE rowid = (
                 SELECT min(rowid) FROM turn
                 WHERE slot = ?1 AND status IN ('queued', 'running') AND aside = 2)",
        )?
        .execute([slot])?;
    Ok(brought > 0)
}

fn admit_one(db: &Connection, now: Moment, slot: &str) -> Result<Option<TurnId>, Fault> {
    // Of each session only the first open turn may run, beside its operations that have not lined up. The words of the
    // partial index stand here in full: SQLite uses it for no condition that merely follows from them, and would read
    // the whole table instead.
    let next = db
        .prepare_cached(
            "UPDATE turn SET admitted = 1, due_ms = ?2 WHERE rowid = (
                 SELECT min(t.rowid) FROM turn AS t
                 WHERE t.slot = ?1 AND t.status IN ('queued', 'running')
                   AND t.status = 'queued' AND t.admitted = 0 AND t.rests = 0
                   AND NOT EXISTS (
                     SELECT 1 FROM turn AS o WHERE o.session_id = t.session_id
                       AND o.ordinal > 0 AND o.ordinal < t.ordinal
                       AND o.status IN ('queued', 'running')))
             RETURNING id",
        )?
        .query_row(params![slot, now.ms], |row| rows::id(row, "id"))
        .optional()?;
    Ok(next)
}
