//! Accepting a message: its row, its turn, its log and its outbox entry, or none of them.

use ports::store::{NewTurn, TurnKind, TurnOpened, WhenBusy};
use protocol::limits::UserLimits;
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{MessageId, TurnId};
use rusqlite::{Connection, params};

use super::super::boot::millis;
use super::super::fault::Fault;
use super::super::follow_ups::{self, Added};
use super::super::job::Done;
use super::super::messages::{self, Belongs};
use super::super::{Moment, sessions};
use super::insert::{self, Asked, NewRow};
use super::known::{Known, known};
use super::places::{slot_of, taken};
use super::{by_id, open_after, regenerate, tree};
use crate::live::News;

pub(super) fn open(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    owner: &Owner,
    new: &NewTurn,
) -> Result<Done<TurnOpened>, Fault> {
    if sessions::find(db, owner, &new.session_id)?.is_none() {
        return Ok(Done::quietly(TurnOpened::NoSession));
    }
    match &new.kind {
        TurnKind::Submit { message, client_id, fingerprint, when_busy } => {
            let mut message = message.clone();
            if let Some(client_id) = client_id {
                message.id = MessageId::from(client_id.as_str());
            }
            let asked = Asked { client_id: client_id.as_deref(), fingerprint: Some(fingerprint) };
            submit(db, now, caps, new, &message, asked, *when_busy)
        }
        TurnKind::Regenerate { from } => regenerate::regenerate(db, now, caps, new, from.as_ref()),
    }
}

fn submit(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    new: &NewTurn,
    message: &NewMessage,
    asked: Asked<'_>,
    when_busy: WhenBusy,
) -> Result<Done<TurnOpened>, Fault> {
    let session = &new.session_id;
    if let Some(client_id) = asked.client_id {
        match known(db, session, client_id, asked.fingerprint)? {
            Known::No => {}
            Known::Turn(turn) => return Ok(Done::quietly(TurnOpened::Joined(turn))),
            Known::FollowUp(waits) => return Ok(Done::quietly(TurnOpened::FollowUp(waits))),
            Known::Reused => return Ok(Done::quietly(TurnOpened::Reused)),
        }
    }
    if when_busy == WhenBusy::FollowUp {
        let fingerprint = asked.fingerprint.unwrap_or_default();
        match follow_ups::add(db, now, session, message, fingerprint)? {
            Added::Waits { follow_up, .. } => {
                return Ok(Done::quietly(TurnOpened::FollowUp(follow_up)));
            }
            Added::Full => return Ok(Done::quietly(TurnOpened::TooManyFollowUps)),
            Added::NoTurn => {}
        }
    }
    if let Some(refused) = refusal(db, caps, new)? {
        return Ok(Done::quietly(refused));
    }
    follow_ups::forget_settled(db, session, &message.id)?;
    let (turn, ordinal) = append(db, now, caps, new, asked)?;
    let to = Belongs { session, turn: &turn, ordinal };
    messages::insert(db, to, message, now.wall_us)?;
    opened(db, &turn)
}

/// Why there may be no new turn, if there may not.
pub(super) fn refusal(
    db: &Connection,
    caps: UserLimits,
    new: &NewTurn,
) -> Result<Option<TurnOpened>, Fault> {
    if let Some(parent) = &new.parent
        && let Some(refused) = tree::refusal(db, parent)?
    {
        return Ok(Some(refused));
    }
    let in_flight = taken(db, &slot_of(db, &new.session_id)?)?.in_flight;
    Ok((in_flight >= caps.in_flight).then_some(TurnOpened::TooMany))
}

/// Adds a turn at the end of its session, with an empty log. It is due at once, after the grace its opener asked for, if
/// it may run; else the end of another one makes it due.
pub(super) fn append(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    new: &NewTurn,
    asked: Asked<'_>,
) -> Result<(TurnId, i64), Fault> {
    let slot = slot_of(db, &new.session_id)?;
    let turn = TurnId::fresh();
    let admitted =
        taken(db, &slot)?.places < caps.running && open_after(db, &new.session_id, 0)?.is_none();
    let ordinal: i64 = db
        .prepare_cached(
            "UPDATE session SET last_ordinal = last_ordinal + 1, updated_at = ?2 WHERE id = ?1
             RETURNING last_ordinal",
        )?
        .query_row(params![new.session_id.as_str(), now.wall_us], |row| row.get(0))?;
    let row = NewRow {
        id: &turn,
        session: &new.session_id,
        ordinal,
        request: &new.request,
        asked,
        parent: new.parent.as_ref().map(|parent| &parent.turn),
        slot: &slot,
        due_ms: admitted.then(|| now.ms + millis(new.push_grace)),
    };
    insert::insert(db, now, &row)?;
    Ok((turn, ordinal))
}

pub(super) fn opened(db: &Connection, turn: &TurnId) -> Result<Done<TurnOpened>, Fault> {
    let opened = by_id(db, turn)?.ok_or_else(|| Fault::broken("a new turn cannot be found"))?;
    Ok(Done::with(TurnOpened::New(Box::new(opened)), News::LogOpened(turn.task())))
}
