//! Concurrency permits: each quota key has a limited number, given to waiting turns in the order they were accepted.

use protocol::limits::UserLimits;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::rows::StoreRow;
use crate::rules::permit_usage::PermitUsage;
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;

/// Quota key of new turns of a session: its user, or the session itself when it has none.
pub(crate) fn session_quota_key(
    db: &Connection,
    session: &SessionId,
) -> Result<String, SqliteError> {
    let quota_key = db
        .prepare_cached("SELECT ifnull(user_id, id) FROM session WHERE id = ?1")?
        .query_row([session.as_str()], |row| row.get(0))?;
    Ok(quota_key)
}

/// Quota key of this turn, which does not change when its session is assigned to a user.
pub(crate) fn turn_quota_key(db: &Connection, turn: &TurnId) -> Result<String, SqliteError> {
    let quota_key = db
        .prepare_cached("SELECT slot FROM turn WHERE id = ?1")?
        .query_row([turn.as_str()], |row| row.get(0))?;
    Ok(quota_key)
}

pub(crate) fn permit_usage(db: &Connection, quota_key: &str) -> Result<PermitUsage, SqliteError> {
    let usage = db
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE ordinal > 0),
                 count(*) FILTER (WHERE admitted = 1 AND aside = 0)
             FROM turn WHERE slot = ?1 AND status IN ('queued', 'running')",
        )?
        .query_row([quota_key], |row| {
            Ok(PermitUsage {
                in_flight: row.get::<_, u32>(0)?.into(),
                permits: row.get::<_, u32>(1)?.into(),
            })
        })?;
    Ok(usage)
}

/// Gives the free permits of a quota key to turns that want theirs back, then to those that have waited longest, and
/// makes the latter due.
pub(crate) fn admit(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    quota_key: &str,
) -> Result<Vec<TurnId>, SqliteError> {
    let mut usage = permit_usage(db, quota_key)?;
    let mut due = Vec::new();
    while usage.has_free_permit(caps) {
        if !restore_one_permit(db, quota_key)? {
            let Some(next) = admit_one(db, now, quota_key)? else { break };
            due.push(next);
        }
        usage.permits += 1;
    }
    Ok(due)
}

/// Does the same for every quota key with waiting turns: permits may have become free while no process ran.
pub(crate) fn admit_all(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
) -> Result<(), SqliteError> {
    let quota_keys: Vec<String> = db
        .prepare_cached(
            "SELECT DISTINCT slot FROM turn WHERE status IN ('queued', 'running')
               AND (status = 'queued' AND admitted = 0 AND rests = 0 OR aside = 2)",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for quota_key in quota_keys {
        admit(db, now, caps, &quota_key)?;
    }
    Ok(())
}

/// Ends the rest of a turn: from now on it waits for a permit, and gets one at once when one is free. Returns whether
/// it did.
pub(crate) fn end_rest(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    turn: &TurnId,
) -> Result<bool, SqliteError> {
    // A cancelled turn needs no permit and stays due.
    db.prepare_cached(
        "UPDATE turn SET rests = 0, due_ms = iif(cancel_requested = 1, due_ms, NULL)
         WHERE id = ?1 AND rests = 1",
    )?
    .execute([turn.as_str()])?;
    let admitted = admit(db, now, caps, &turn_quota_key(db, turn)?)?;
    Ok(admitted.contains(turn))
}

/// The worker of such a turn polls, so no notification is needed.
fn restore_one_permit(db: &Connection, quota_key: &str) -> Result<bool, SqliteError> {
    let restored = db
        .prepare_cached(
            "UPDATE turn SET aside = 0 WHERE rowid = (
                 SELECT min(rowid) FROM turn
                 WHERE slot = ?1 AND status IN ('queued', 'running') AND aside = 2)",
        )?
        .execute([quota_key])?;
    Ok(restored > 0)
}

fn admit_one(
    db: &Connection,
    now: StoreTime,
    quota_key: &str,
) -> Result<Option<TurnId>, SqliteError> {
    // Of each session only the first open turn may run, besides its operations outside the order. The conditions of
    // the partial index are repeated literally: SQLite does not use it for conditions that merely imply them, and
    // would scan the whole table instead.
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
        .query_row(params![quota_key, now.ms], |row| row.id("id"))
        .optional()?;
    Ok(next)
}
