//! Answering an earlier message again. Nothing is removed: what leaves the history stays in the
//! database, marked with the turn that took its place.

use ports::store::{NewTurn, TurnOpened};
use protocol::limits::UserLimits;
use protocol::{MessageId, SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fault::Fault;
use super::super::job::Done;
use super::super::{Moment, operations, rows};
use super::insert::Asked;
use super::open::{append, opened, refusal};
use super::{by_id, open_after};

pub(super) fn regenerate(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    new: &NewTurn,
    from: Option<&MessageId>,
) -> Result<Done<TurnOpened>, Fault> {
    let session = &new.session_id;
    let target = find(db, session, from)?;
    if let Some((active, _)) = open_after(db, session, 0)? {
        return Ok(Done::quietly(joined_or_busy(db, &active, target.as_ref(), from)?));
    }
    if operations::any_open(db, session)? {
        return Ok(Done::quietly(TurnOpened::Busy));
    }
    let Some(target) = target.filter(|target| target.superseded == Superseded::No) else {
        return Ok(Done::quietly(TurnOpened::NothingToRegenerate));
    };
    let asked = Asked {
        client_id: target.client_id.as_deref(),
        fingerprint: target.fingerprint.as_deref(),
    };
    if let Some(refused) = refusal(db, caps, new)? {
        return Ok(Done::quietly(refused));
    }
    // The client's id goes with its message, and only one turn may have it.
    db.prepare_cached("UPDATE turn SET client_id = NULL, fingerprint = NULL WHERE id = ?1")?
        .execute([target.id.as_str()])?;
    let (turn, ordinal) = append(db, now, caps, new, asked)?;
    replace(db, session, &target, &turn, ordinal)?;
    opened(db, &turn)
}

/// A turn that is to be answered again.
struct Target {
    id: TurnId,
    ordinal: i64,
    superseded: Superseded,
    client_id: Option<String>,
    fingerprint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Superseded {
    Yes,
    No,
}

/// The turn that streams under the id `from`, or that a row with this id belongs to; without an id the last one. An
/// operation answers no message of its own, so the one before it is meant.
fn find(
    db: &Connection,
    session: &SessionId,
    from: Option<&MessageId>,
) -> Result<Option<Target>, Fault> {
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
            Ok(Target {
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

/// Asking twice for the same thing is one request; anything else has to wait for the turn at work.
fn joined_or_busy(
    db: &Connection,
    active: &TurnId,
    target: Option<&Target>,
    from: Option<&MessageId>,
) -> Result<TurnOpened, Fault> {
    let regenerates: Option<TurnId> = db
        .prepare_cached("SELECT regenerates FROM turn WHERE id = ?1")?
        .query_row([active.as_str()], |row| row.get::<_, Option<String>>(0))?
        .map(TurnId::from);
    let same = match (regenerates, from) {
        (None, _) => false,
        // "The last one" is what the active turn is answering again.
        (Some(_), None) => true,
        (Some(regenerated), Some(_)) => target.is_some_and(|target| target.id == regenerated),
    };
    match by_id(db, active)? {
        Some(turn) if same => Ok(TurnOpened::Joined(Box::new(turn))),
        _ => Ok(TurnOpened::Busy),
    }
}

/// Takes the old turn and all after it out of the history, except for the message to be answered anew.
fn replace(
    db: &Connection,
    session: &SessionId,
    old: &Target,
    new: &TurnId,
    ordinal: i64,
) -> Result<(), Fault> {
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
