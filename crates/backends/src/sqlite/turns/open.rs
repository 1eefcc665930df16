//! Accepting a message: its row, its turn, its log and its outbox entry, or none of them.

use ports::store::{NewTurn, Opened, TurnKind};
use protocol::limits::Caps;
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{MessageId, SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::boot::millis;
use super::super::fault::Fault;
use super::super::job::Done;
use super::super::messages::{self, Belongs};
use super::super::{Moment, rows, sessions, stream_log};
use super::places::{slot_of, taken};
use super::{by_id, open_after, regenerate};
use crate::live::News;

pub(super) fn open(
    db: &Connection,
    now: Moment,
    caps: Caps,
    owner: &Owner,
    new: &NewTurn,
) -> Result<Done<Opened>, Fault> {
    if sessions::find(db, owner, &new.session_id)?.is_none() {
        return Ok(Done::quietly(Opened::NoSession));
    }
    match &new.kind {
        TurnKind::Submit { message, client_id, fingerprint } => {
            let asked = Asked { client_id: client_id.as_deref(), fingerprint: Some(fingerprint) };
            submit(db, now, caps, new, message, asked)
        }
        TurnKind::Regenerate { from } => regenerate::regenerate(db, now, caps, new, from.as_ref()),
    }
}

/// How a submission is recognised when it comes again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked<'a> {
    pub(super) client_id: Option<&'a str>,
    pub(super) fingerprint: Option<&'a str>,
}

fn submit(
    db: &Connection,
    now: Moment,
    caps: Caps,
    new: &NewTurn,
    message: &NewMessage,
    asked: Asked<'_>,
) -> Result<Done<Opened>, Fault> {
    let mut message = message.clone();
    if let Some(client_id) = asked.client_id {
        if let Some(known) = known(db, &new.session_id, client_id, asked)? {
            return Ok(Done::quietly(known));
        }
        message.id = MessageId::from(client_id);
    }
    let Some((turn, ordinal)) = insert(db, now, caps, new, asked)? else {
        return Ok(Done::quietly(Opened::TooMany));
    };
    let to = Belongs { session: &new.session_id, turn: &turn, ordinal };
    messages::insert(db, to, &message, now.wall_us)?;
    opened(db, &turn)
}

/// What became of this client id before, if anything.
fn known(
    db: &Connection,
    session: &SessionId,
    client_id: &str,
    asked: Asked<'_>,
) -> Result<Option<Opened>, Fault> {
    let turn: Option<(TurnId, Option<String>)> = db
        .prepare_cached(
            "SELECT id, fingerprint FROM turn WHERE session_id = ?1 AND client_id = ?2",
        )?
        .query_row([session.as_str(), client_id], |row| {
            Ok((rows::id(row, "id")?, row.get("fingerprint")?))
        })
        .optional()?;
    if let Some((id, fingerprint)) = turn {
        return Ok(match by_id(db, &id)? {
            Some(turn) if fingerprint.as_deref() == asked.fingerprint => {
                Some(Opened::Joined(Box::new(turn)))
            }
            _ => Some(Opened::Reused),
        });
    }
    // The id of a row that no client named cannot be given to another.
    let taken = db
        .prepare_cached("SELECT 1 FROM message WHERE session_id = ?1 AND id = ?2")?
        .exists([session.as_str(), client_id])?;
    Ok(taken.then_some(Opened::Reused))
}

/// Adds a turn at the end of its session, with an empty log, unless its slot has too many. It is due at once, after the
/// grace its opener asked for, if it may run; else the end of another one makes it due.
pub(super) fn insert(
    db: &Connection,
    now: Moment,
    caps: Caps,
    new: &NewTurn,
    asked: Asked<'_>,
) -> Result<Option<(TurnId, i64)>, Fault> {
    let slot = slot_of(db, &new.session_id)?;
    let (in_flight, places) = taken(db, &slot)?;
    if in_flight >= caps.in_flight {
        return Ok(None);
    }
    let turn = TurnId::fresh();
    let admitted = places < caps.running && open_after(db, &new.session_id, 0)?.is_none();
    let due = admitted.then(|| now.ms + millis(new.push_grace));
    let ordinal: i64 = db
        .prepare_cached(
            "UPDATE session SET last_ordinal = last_ordinal + 1, updated_at = ?2 WHERE id = ?1
             RETURNING last_ordinal",
        )?
        .query_row(params![new.session_id.as_str(), now.wall_us], |row| row.get(0))?;
    let request =
        serde_json::to_string(&new.request).map_err(|error| Fault::broken(error.to_string()))?;
    db.prepare_cached(
        "INSERT INTO turn (id, session_id, ordinal, status, message_id, request, client_id,
             fingerprint, due_ms, created_at, slot, admitted)
         VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        turn.as_str(),
        new.session_id.as_str(),
        ordinal,
        // The rows of an answer name their turn, so a client that has them recognises the message
        // that a replay streams and does not show it twice.
        turn.as_str(),
        request,
        asked.client_id,
        asked.fingerprint,
        due,
        now.wall_us,
        slot,
        admitted,
    ])?;
    stream_log::create(db, &turn.task())?;
    Ok(Some((turn, ordinal)))
}

pub(super) fn opened(db: &Connection, turn: &TurnId) -> Result<Done<Opened>, Fault> {
    let opened = by_id(db, turn)?.ok_or_else(|| Fault::broken("a new turn cannot be found"))?;
    Ok(Done::with(Opened::New(Box::new(opened)), News::LogOpened(turn.task())))
}
