//! Opens a turn: stores the message, the turn, its stream log and its outbox entry in one transaction.

use ports::store::{NewTurn, TurnKind, TurnOpened, WhenBusy};
use protocol::limits::UserLimits;
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{MessageId, TurnId};
use rusqlite::{Connection, params};

use super::insert::{self, NewTurnRow};
use super::message_id::find_message_id;
use super::permits::{permit_usage, session_quota_key};
use super::{by_id, open_after, parent, regenerate};
use crate::live::StoreEvent;
use crate::rows::messages::MessagePosition;
use crate::rules::submission_key::SubmissionKey;
use crate::sqlite::boot_clock::millis;
use crate::sqlite::error::SqliteError;
use crate::sqlite::follow_ups::{self, FollowUpAdded};
use crate::sqlite::write_job::WriteOutput;
use crate::sqlite::{StoreTime, messages, sessions};

pub(crate) fn open(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    owner: &Owner,
    new: &NewTurn,
) -> Result<WriteOutput<TurnOpened>, SqliteError> {
    if sessions::find(db, owner, &new.session_id)?.is_none() {
        return Ok(WriteOutput::silent(TurnOpened::NoSession));
    }
    match &new.kind {
        TurnKind::Submit { message, client_id, fingerprint, when_busy } => {
            let mut message = message.clone();
            if let Some(client_id) = client_id {
                message.id = MessageId::from(client_id.as_str());
            }
            let submission =
                SubmissionKey { client_id: client_id.as_deref(), fingerprint: Some(fingerprint) };
            submit(db, now, caps, new, &message, submission, *when_busy)
        }
        TurnKind::Regenerate { from } => regenerate::regenerate(db, now, caps, new, from.as_ref()),
    }
}

fn submit(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    new: &NewTurn,
    message: &NewMessage,
    submission: SubmissionKey<'_>,
    when_busy: WhenBusy,
) -> Result<WriteOutput<TurnOpened>, SqliteError> {
    let session = &new.session_id;
    if let Some(client_id) = submission.client_id {
        let found = find_message_id(db, session, client_id, submission.fingerprint)?;
        if let Some(reply) = found.reply_to_submission() {
            return Ok(WriteOutput::silent(reply));
        }
    }
    if when_busy == WhenBusy::FollowUp {
        let fingerprint = submission.fingerprint.unwrap_or_default();
        match follow_ups::add(db, now, session, message, fingerprint)? {
            FollowUpAdded::Waits { follow_up, .. } => {
                return Ok(WriteOutput::silent(TurnOpened::FollowUp(follow_up)));
            }
            FollowUpAdded::Full => return Ok(WriteOutput::silent(TurnOpened::TooManyFollowUps)),
            FollowUpAdded::NoTurn => {}
        }
    }
    if let Some(refused) = refusal(db, caps, new)? {
        return Ok(WriteOutput::silent(refused));
    }
    follow_ups::delete_settled(db, session, &message.id)?;
    let (turn, ordinal) = append(db, now, caps, new, submission)?;
    let to = MessagePosition { session, turn: &turn, ordinal, wall_us: now.wall_us };
    messages::insert(db, to, message)?;
    opened(db, &turn)
}

/// Why a new turn is refused; `None` when it is not.
pub(crate) fn refusal(
    db: &Connection,
    caps: UserLimits,
    new: &NewTurn,
) -> Result<Option<TurnOpened>, SqliteError> {
    if let Some(parent_turn) = &new.parent
        && let Some(refused) = parent::refusal(db, parent_turn)?
    {
        return Ok(Some(refused));
    }
    let in_flight = permit_usage(db, &session_quota_key(db, &new.session_id)?)?.in_flight;
    Ok((in_flight >= u64::from(caps.in_flight)).then_some(TurnOpened::TooMany))
}

/// Adds a turn at the end of its session, with an empty stream log. An admitted turn is due after the grace period its
/// caller asked for; any other becomes due when another turn ends.
pub(crate) fn append(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    new: &NewTurn,
    submission: SubmissionKey<'_>,
) -> Result<(TurnId, i64), SqliteError> {
    let quota_key = session_quota_key(db, &new.session_id)?;
    let turn = TurnId::fresh();
    let admitted = permit_usage(db, &quota_key)?.has_free_permit(caps)
        && open_after(db, &new.session_id, 0)?.is_none();
    let ordinal: i64 = db
        .prepare_cached(
            "UPDATE session SET last_ordinal = last_ordinal + 1, updated_at = ?2 WHERE id = ?1
             RETURNING last_ordinal",
        )?
        .query_row(params![new.session_id.as_str(), now.wall_us], |row| row.get(0))?;
    let row = NewTurnRow {
        id: &turn,
        session: &new.session_id,
        ordinal,
        request: &new.request,
        submission,
        parent: new.parent.as_ref().map(|parent| &parent.turn),
        quota_key: &quota_key,
        due_ms: admitted.then(|| now.ms + millis(new.push_grace)),
    };
    insert::insert(db, now, &row)?;
    Ok((turn, ordinal))
}

pub(crate) fn opened(
    db: &Connection,
    turn: &TurnId,
) -> Result<WriteOutput<TurnOpened>, SqliteError> {
    let opened =
        by_id(db, turn)?.ok_or_else(|| SqliteError::broken("a new turn cannot be found"))?;
    Ok(WriteOutput::with_event(
        TurnOpened::New(Box::new(opened)),
        StoreEvent::LogOpened(turn.task()),
    ))
}
