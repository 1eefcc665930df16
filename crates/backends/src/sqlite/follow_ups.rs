//! Follow-ups: messages sent while a turn runs, kept in their own rows until they are drained into the history.

use async_trait::async_trait;
use ports::store::{FollowUpPushed, FollowUps, NewFollowUp};
use ports::{Fenced, PortResult};
use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::limits::FOLLOW_UPS;
use protocol::message::{MessageRole, NewMessage};
use protocol::session::Owner;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{MessageId, SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::SqliteError;
use super::turns::message_id::{KnownMessageId, find_message_id};
use super::turns::{find_claimed, open_after};
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, StoreTime, messages, rows, sessions};
use crate::words;

#[async_trait]
impl FollowUps for SqliteStore {
    async fn push(
        &self,
        owner: &Owner,
        session: &SessionId,
        new: NewFollowUp,
    ) -> PortResult<FollowUpPushed> {
        let (owner, session, now) = (owner.clone(), session.clone(), self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| push(db, now, &owner, &session, &new))
            .await
    }

    async fn list(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
    ) -> PortResult<Option<Vec<FollowUp>>> {
        let (owner, session) = (owner.clone(), session.clone());
        self.readers
            .run(move |db| {
                if sessions::find(db, &owner, &session)?.is_none() {
                    return Ok(None);
                }
                list(db, &session, limit).map(Some)
            })
            .await
    }

    async fn drain(&self, claim: &TurnClaim, step: u32) -> PortResult<Fenced<Vec<FollowUp>>> {
        let (claim, now) = (claim.clone(), self.store_time());
        self.writer.run(WritePriority::Ordinary, move |db| drain(db, now, &claim, step)).await
    }
}

fn push(
    db: &Connection,
    now: StoreTime,
    owner: &Owner,
    session: &SessionId,
    new: &NewFollowUp,
) -> Result<WriteOutput<FollowUpPushed>, SqliteError> {
    if sessions::find(db, owner, session)?.is_none() {
        return Ok(WriteOutput::silent(FollowUpPushed::NoSession));
    }
    let mut message = new.message.clone();
    if let Some(client_id) = &new.client_id {
        match find_message_id(db, session, client_id, Some(&new.fingerprint))? {
            KnownMessageId::Free => {}
            KnownMessageId::FollowUp(follow_up) => {
                return Ok(WriteOutput::silent(FollowUpPushed::Known(follow_up)));
            }
            KnownMessageId::Turn(_) | KnownMessageId::Reused => {
                return Ok(WriteOutput::silent(FollowUpPushed::Reused));
            }
        }
        message.id = MessageId::from(client_id.as_str());
    }
    Ok(WriteOutput::silent(match add(db, now, session, &message, &new.fingerprint)? {
        FollowUpAdded::Waits { follow_up, waiting } => FollowUpPushed::Waits { follow_up, waiting },
        FollowUpAdded::NoTurn => FollowUpPushed::NoTurn,
        FollowUpAdded::Full => FollowUpPushed::Full,
    }))
}

pub(super) enum FollowUpAdded {
    /// It waits; `waiting` counts all waiting follow-ups of the turn.
    Waits {
        follow_up: Box<FollowUp>,
        waiting: u32,
    },
    /// No turn runs, or only one that is being cancelled and would drop it.
    NoTurn,
    Full,
}

/// Adds an unknown message, unless no turn runs or too many follow-ups wait.
pub(super) fn add(
    db: &Connection,
    now: StoreTime,
    session: &SessionId,
    message: &NewMessage,
    fingerprint: &str,
) -> Result<FollowUpAdded, SqliteError> {
    let Some(turn) = running_turn(db, session)? else { return Ok(FollowUpAdded::NoTurn) };
    let waiting = waiting(db, &turn)?;
    if waiting >= FOLLOW_UPS {
        return Ok(FollowUpAdded::Full);
    }
    delete_settled(db, session, &message.id)?;
    db.prepare_cached(
        "INSERT INTO follow_up (session_id, turn_id, id, content, metadata, fingerprint, state,
             created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?7)",
    )?
    .execute(params![
        session.as_str(),
        turn.as_str(),
        message.id.as_str(),
        message.content,
        message.metadata.as_ref().map(ToString::to_string),
        fingerprint,
        now.wall_us,
    ])?;
    let (follow_up, _) = find(db, session, message.id.as_str())?
        .ok_or_else(|| SqliteError::broken("a new follow-up cannot be found"))?;
    Ok(FollowUpAdded::Waits { follow_up: Box::new(follow_up), waiting: waiting + 1 })
}

fn running_turn(db: &Connection, session: &SessionId) -> Result<Option<TurnId>, SqliteError> {
    let Some((turn, _)) = open_after(db, session, 0)? else { return Ok(None) };
    let is_active = db
        .prepare_cached("SELECT 1 FROM turn WHERE id = ?1 AND cancel_requested = 0")?
        .exists([turn.as_str()])?;
    Ok(is_active.then_some(turn))
}

/// Removes a returned or dropped follow-up, which its sender now sends again.
pub(super) fn delete_settled(
    db: &Connection,
    session: &SessionId,
    id: &MessageId,
) -> Result<(), SqliteError> {
    db.prepare_cached(
        "DELETE FROM follow_up
         WHERE session_id = ?1 AND id = ?2 AND state IN ('returned', 'dropped')",
    )?
    .execute([session.as_str(), id.as_str()])?;
    Ok(())
}

/// Number of follow-ups that wait for this turn.
pub(super) fn waiting(db: &Connection, turn: &TurnId) -> Result<u32, SqliteError> {
    let waiting = db
        .prepare_cached("SELECT count(*) FROM follow_up WHERE turn_id = ?1 AND state = 'pending'")?
        .query_row([turn.as_str()], |row| row.get(0))?;
    Ok(waiting)
}

/// Settles the waiting follow-ups when a turn ends: a cancel drops them, any other end returns them.
pub(super) fn settle(
    db: &Connection,
    turn: &TurnId,
    status: TurnStatus,
) -> Result<(), SqliteError> {
    let state = match status {
        TurnStatus::Cancelled => FollowUpState::Dropped,
        _ => FollowUpState::Returned,
    };
    db.prepare_cached("UPDATE follow_up SET state = ?2 WHERE turn_id = ?1 AND state = 'pending'")?
        .execute([turn.as_str(), state.as_str()])?;
    Ok(())
}

const FOLLOW_UP: &str = "id, session_id, turn_id, content, metadata, state, step, created_at";

fn read(row: &Row<'_>) -> rusqlite::Result<FollowUp> {
    Ok(FollowUp {
        id: rows::id(row, "id")?,
        session_id: rows::id(row, "session_id")?,
        turn_id: rows::id(row, "turn_id")?,
        text: row.get("content")?,
        state: rows::word(row, "state", words::follow_up_state)?,
        step: row.get("step")?,
        created_at: rows::time(row, "created_at")?,
    })
}

/// The follow-up with its fingerprint.
pub(super) fn find(
    db: &Connection,
    session: &SessionId,
    id: &str,
) -> Result<Option<(FollowUp, String)>, SqliteError> {
    let found = db
        .prepare_cached(&format!(
            "SELECT {FOLLOW_UP}, fingerprint FROM follow_up WHERE session_id = ?1 AND id = ?2"
        ))?
        .query_row([session.as_str(), id], |row| Ok((read(row)?, row.get("fingerprint")?)))
        .optional()?;
    Ok(found)
}

fn list(db: &Connection, session: &SessionId, limit: u32) -> Result<Vec<FollowUp>, SqliteError> {
    let mut newest = db
        .prepare_cached(&format!(
            "SELECT {FOLLOW_UP} FROM follow_up WHERE session_id = ?1 ORDER BY number DESC LIMIT ?2"
        ))?
        .query_map(params![session.as_str(), limit], read)?
        .collect::<Result<Vec<_>, _>>()?;
    newest.reverse();
    Ok(newest)
}

fn drain(
    db: &Connection,
    now: StoreTime,
    claim: &TurnClaim,
    step: u32,
) -> Result<WriteOutput<Fenced<Vec<FollowUp>>>, SqliteError> {
    let Some(claimed) = find_claimed(db, claim)? else {
        return Ok(WriteOutput::silent(Fenced::Stale));
    };
    let waiting: Vec<(FollowUp, Option<serde_json::Value>)> = db
        .prepare_cached(&format!(
            "SELECT {FOLLOW_UP} FROM follow_up
             WHERE turn_id = ?1 AND state = 'pending' ORDER BY number"
        ))?
        .query_map([claim.turn_id.as_str()], |row| {
            Ok((read(row)?, rows::optional_json(row, "metadata")?))
        })?
        .collect::<Result<_, _>>()?;
    let mut drained = Vec::with_capacity(waiting.len());
    for (follow_up, metadata) in waiting {
        let message = NewMessage {
            id: follow_up.id.clone(),
            metadata,
            ..NewMessage::new(MessageRole::User, follow_up.text.clone())
        };
        messages::insert(db, claimed.message_position(claim), &message, now.wall_us)?;
        drained.push(FollowUp { state: FollowUpState::Delivered, step: Some(step), ..follow_up });
    }
    db.prepare_cached(
        "UPDATE follow_up SET state = 'delivered', step = ?2 WHERE turn_id = ?1 AND state = 'pending'",
    )?
    .execute(params![claim.turn_id.as_str(), step])?;
    Ok(WriteOutput::silent(Fenced::Done(drained)))
}
