//! Finds what a client's message id is already used for.

use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::turn::Turn;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension};

use super::super::error::SqliteError;
use super::super::{follow_ups, rows};
use super::by_id;

pub(in super::super) enum KnownMessageId {
    /// Unknown, or a follow-up that was returned to its sender: the message is new.
    Free,
    Turn(Box<Turn>),
    FollowUp(Box<FollowUp>),
    /// Used for another text, or for a row whose id no client chose.
    Reused,
}

pub(in super::super) fn find_message_id(
    db: &Connection,
    session: &SessionId,
    client_id: &str,
    fingerprint: Option<&str>,
) -> Result<KnownMessageId, SqliteError> {
    let turn: Option<(TurnId, Option<String>)> = db
        .prepare_cached(
            "SELECT id, fingerprint FROM turn WHERE session_id = ?1 AND client_id = ?2",
        )?
        .query_row([session.as_str(), client_id], |row| {
            Ok((rows::id(row, "id")?, row.get("fingerprint")?))
        })
        .optional()?;
    if let Some((id, submission)) = turn {
        return Ok(match by_id(db, &id)? {
            Some(turn) if submission.as_deref() == fingerprint => {
                KnownMessageId::Turn(Box::new(turn))
            }
            _ => KnownMessageId::Reused,
        });
    }
    if let Some((follow_up, submission)) = follow_ups::find(db, session, client_id)? {
        return Ok(match follow_up.state {
            _ if Some(submission.as_str()) != fingerprint => KnownMessageId::Reused,
            FollowUpState::Pending | FollowUpState::Delivered => {
                KnownMessageId::FollowUp(Box::new(follow_up))
            }
            FollowUpState::Returned | FollowUpState::Dropped => KnownMessageId::Free,
        });
    }
    let exists = db
        .prepare_cached("SELECT 1 FROM message WHERE session_id = ?1 AND id = ?2")?
        .exists([session.as_str(), client_id])?;
    Ok(if exists { KnownMessageId::Reused } else { KnownMessageId::Free })
}
