//! Regenerates a response. Nothing is deleted: replaced rows stay in the database, marked with the turn that
//! superseded them.

use ports::store::{NewTurn, TurnOpened};
use protocol::limits::UserLimits;
use protocol::{MessageId, SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::open::{append, opened, refusal};
use super::{by_id, open_after};
use crate::rows::turns::{regenerate_target, regenerate_target_columns};
use crate::rules::regenerate_target::{
    RegenerateTarget, Superseded, is_repeated, reply_while_busy,
};
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;
use crate::sqlite::{StoreTime, operations};

pub(crate) fn regenerate(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    new: &NewTurn,
    from: Option<&MessageId>,
) -> Result<WriteOutput<TurnOpened>, SqliteError> {
    let session = &new.session_id;
    let target = find(db, session, from)?;
    if let Some((active, _)) = open_after(db, session, 0)? {
        return Ok(WriteOutput::silent(joined_or_busy(db, &active, target.as_ref(), from)?));
    }
    if operations::any_open(db, session)? {
        return Ok(WriteOutput::silent(TurnOpened::Busy));
    }
    let Some(target) = target.filter(|target| target.superseded == Superseded::No) else {
        return Ok(WriteOutput::silent(TurnOpened::NothingToRegenerate));
    };
    if let Some(refused) = refusal(db, caps, new)? {
        return Ok(WriteOutput::silent(refused));
    }
    // The client's id moves with its message, and only one turn may have it.
    db.prepare_cached("UPDATE turn SET client_id = NULL, fingerprint = NULL WHERE id = ?1")?
        .execute([target.id.as_str()])?;
    let (turn, ordinal) = append(db, now, caps, new, target.submission())?;
    replace(db, session, &target, &turn, ordinal)?;
    opened(db, &turn)
}

/// The turn that streams under the id `from`, or that owns a row with this id; without an id the last one. An
/// operation responds to no message, so the turn before it is used instead.
fn find(
    db: &Connection,
    session: &SessionId,
    from: Option<&MessageId>,
) -> Result<Option<RegenerateTarget>, SqliteError> {
    let target = db
        .prepare_cached(concat!(
            "SELECT ",
            regenerate_target_columns!(),
            " FROM turn AS t
             WHERE t.session_id = ?1 AND t.ordinal > 0
               AND NOT EXISTS (SELECT 1 FROM operation AS p WHERE p.turn_id = t.id)
               AND (?2 IS NULL OR t.ordinal <= (
                 SELECT max(a.ordinal) FROM turn AS a
                 WHERE a.session_id = ?1 AND (a.message_id = ?2 OR a.id = (
                   SELECT turn_id FROM message WHERE session_id = ?1 AND id = ?2))))
             ORDER BY t.ordinal DESC LIMIT 1"
        ))?
        .query_row(params![session.as_str(), from.map(MessageId::as_str)], |row| {
            regenerate_target(row)
        })
        .optional()?;
    Ok(target)
}

/// A repeated request joins the turn that already regenerates; any other request is refused while a turn runs.
fn joined_or_busy(
    db: &Connection,
    active: &TurnId,
    target: Option<&RegenerateTarget>,
    from: Option<&MessageId>,
) -> Result<TurnOpened, SqliteError> {
    let regenerates: Option<TurnId> = db
        .prepare_cached("SELECT regenerates FROM turn WHERE id = ?1")?
        .query_row([active.as_str()], |row| row.get::<_, Option<String>>(0))?
        .map(TurnId::from);
    let repeated = is_repeated(regenerates.as_ref(), target, from);
    Ok(reply_while_busy(by_id(db, active)?.filter(|_| repeated)))
}

/// Removes the old turn and all later ones from the history, except for the message to respond to again.
fn replace(
    db: &Connection,
    session: &SessionId,
    old: &RegenerateTarget,
    new: &TurnId,
    ordinal: i64,
) -> Result<(), SqliteError> {
    db.prepare_cached("UPDATE turn SET regenerates = ?2 WHERE id = ?1")?
        .execute([new.as_str(), old.id.as_str()])?;
    db.prepare_cached(
        "UPDATE turn SET superseded_by = ?3
         WHERE session_id = ?1 AND ordinal >= ?2 AND id <> ?3 AND superseded_by IS NULL",
    )?
    .execute(params![session.as_str(), old.ordinal, new.as_str()])?;
    db.prepare_cached(
        "UPDATE message SET turn_id = ?3, ordinal = ?4
         WHERE session_id = ?1 AND turn_id = ?2 AND role = 'user' AND superseded_by IS NULL",
    )?
    .execute(params![session.as_str(), old.id.as_str(), new.as_str(), ordinal])?;
    db.prepare_cached(
        "UPDATE message SET superseded_by = ?3
         WHERE session_id = ?1 AND ordinal >= ?2 AND turn_id <> ?3 AND superseded_by IS NULL",
    )?
    .execute(params![session.as_str(), old.ordinal, new.as_str()])?;
    Ok(())
}
