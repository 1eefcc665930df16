//! Follow-ups: messages sent while a turn runs, kept in their own rows until they are drained into the history.

use async_trait::async_trait;
use ports::store::{FollowUpPushed, FollowUps, NewFollowUp};
use ports::{Fenced, PortResult};
use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::limits::FOLLOW_UPS;
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::turn::TurnClaim;
use protocol::{MessageId, SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;
use super::turns::claimed_rows::find_claimed;
use super::turns::message_id::find_message_id;
use super::turns::{open_after, settle};
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, StoreTime, messages, sessions};
use crate::rows::StoreRow;
use crate::rows::follow_ups::{delivered_message, follow_up, follow_up_columns};

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
        let found = find_message_id(db, session, client_id, Some(&new.fingerprint))?;
        if let Some(reply) = found.reply_to_follow_up() {
            return Ok(WriteOutput::silent(reply));
        }
        message.id = MessageId::from(client_id.as_str());
    }
    Ok(WriteOutput::silent(match add(db, now, session, &message, &new.fingerprint)? {
        FollowUpAdded::Waits { follow_up, waiting } => FollowUpPushed::Waits { follow_up, waiting },
        FollowUpAdded::NoTurn => FollowUpPushed::NoTurn,
        FollowUpAdded::Full => FollowUpPushed::Full,
    }))
}

pub(crate) enum FollowUpAdded {
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
pub(crate) fn add(
    db: &Connection,
    now: StoreTime,
    session: &SessionId,
    message: &NewMessage,
    fingerprint: &str,
) -> Result<FollowUpAdded, SqliteError> {
    let Some(turn) = running_turn(db, session)? else { return Ok(FollowUpAdded::NoTurn) };
    let waiting = settle::waiting_follow_ups(db, &turn)?;
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
pub(crate) fn delete_settled(
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

/// The follow-up with its fingerprint.
pub(crate) fn find(
    db: &Connection,
    session: &SessionId,
    id: &str,
) -> Result<Option<(FollowUp, String)>, SqliteError> {
    let found = db
        .prepare_cached(concat!(
            "SELECT ",
            follow_up_columns!(),
            ", f.fingerprint FROM follow_up AS f WHERE f.session_id = ?1 AND f.id = ?2"
        ))?
        .query_row([session.as_str(), id], |row| Ok((follow_up(row)?, row.text("fingerprint")?)))
        .optional()?;
    Ok(found)
}

fn list(db: &Connection, session: &SessionId, limit: u32) -> Result<Vec<FollowUp>, SqliteError> {
    let mut newest = db
        .prepare_cached(concat!(
            "SELECT ",
            follow_up_columns!(),
            " FROM follow_up AS f WHERE f.session_id = ?1 ORDER BY f.number DESC LIMIT ?2"
        ))?
        .query_map(params![session.as_str(), limit], |row| follow_up(row))?
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
    let waiting: Vec<(FollowUp, NewMessage)> = db
        .prepare_cached(concat!(
            "SELECT ",
            follow_up_columns!(),
            ", f.metadata FROM follow_up AS f
             WHERE f.turn_id = ?1 AND f.state = 'pending' ORDER BY f.number"
        ))?
        .query_map([claim.turn_id.as_str()], |row| delivered_message(row))?
        .collect::<Result<_, _>>()?;
    let mut drained = Vec::with_capacity(waiting.len());
    for (follow_up, message) in waiting {
        messages::insert(db, claimed.message_position(claim, now.wall_us), &message)?;
        drained.push(FollowUp { state: FollowUpState::Delivered, step: Some(step), ..follow_up });
    }
    db.prepare_cached(
        "UPDATE follow_up SET state = 'delivered', step = ?2 WHERE turn_id = ?1 AND state = 'pending'",
    )?
    .execute(params![claim.turn_id.as_str(), step])?;
    Ok(WriteOutput::silent(Fenced::Done(drained)))
}
