//! Regenerates a response. Nothing is deleted: replaced rows stay in the database, marked with the turn that
//! superseded them.

use ports::store::{NewTurn, TurnOpened};
use protocol::limits::UserLimits;
use protocol::{MessageId, SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::error::SqliteError;
use super::super::write_job::WriteOutput;
use super::super::{StoreTime, operations, rows};
use super::open::{append, opened, refusal};
use super::{by_id, open_after};
use crate::regenerate_target::{RegenerateTarget, Superseded};
use crate::submission_key::SubmissionKey;

pub(super) fn regenerate(
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
    let submission = SubmissionKey {
        client_id: target.client_id.as_deref(),
        fingerprint: target.fingerprint.as_deref(),
    };
    if let Some(refused) = refusal(db, caps, new)? {
        return Ok(WriteOutput::silent(refused));
    }
    // The client's id moves with its message, and only one turn may have it.
    db.prepare_cached("UPDATE turn SET client_id = NULL, fingerprint = NULL WHERE id = ?1")?
        .execute([target.id.as_str()])?;
    let (turn, ordinal) = append(db, now, caps, new, submission)?;
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
        .prepare_cached(
            "SELECT t.id, t.ordinal, t.superseded_by IS NOT NULL AS superseded, t.client_id,
                 t.fingerprint
             FROM turn AS t
             WHERE t.session_id = ?1 AND t.ordinal > 0
               AND NOT EXISTS (SELECT 1 FROM operation AS p WHERE p.turn_id = t.id)
               AND (?2 IS NULL OR t.ordinal <= (
                 SELECT max(a.ordinal) FROM turn AS a
                 WHERE a.session_id = ?1 AND (a.message_id = ?2 OR a.id = (
                   SELECT turn_id FROM message WHERE session_id = ?1 AND id = ?2))))
             ORDER BY t.ordinal DESC LIMIT 1",
        )?
        .query_row(params![session.as_str(), from.map(MessageId::as_str)], |row| {
            Ok(RegenerateTarget {
                id: rows::id(row, "id")?,
                ordinal: row.get("ordinal")?,
                superseded: if row.get("superseded")? { Superseded::Yes } else { Superseded::No },
                client_id: row.get("client_id")?,
                fingerprint: row.get("fingerprint")?,
            })
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
    let same = match (regenerates, from) {
        (None, _) => false,
        // Without an id, the active turn regenerates the last one.
        (Some(_), None) => true,
        (Some(regenerated), Some(_)) => target.is_some_and(|target| target.id == regenerated),
    };
    match by_id(db, active)? {
        Some(turn) if same => Ok(TurnOpened::Joined(Box::new(turn))),
        _ => Ok(TurnOpened::Busy),
    }
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
