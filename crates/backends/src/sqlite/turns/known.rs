//! What a client's message id stands for already.

use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::turn::Turn;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension};

use super::super::fault::Fault;
use super::super::{follow_ups, rows};
use super::by_id;

pub(in super::super) enum Known {
    /// Nothing, or a follow-up that came back to its sender: the message is new.
    No,
    Turn(Box<Turn>),
    FollowUp(Box<FollowUp>),
    /// Another text, or a row that no client named.
    Reused,
}

pub(in super::super) fn known(
    db: &Connection,
    session: &SessionId,
    client_id: &str,
    fingerprint: Option<&str>,
) -> Result<Known, Fault> {
    let turn: Option<(TurnId, Option<String>)> = db
        .prepare_cached(
            "SELECT id, fingerprint FROM turn WHERE session_id = ?1 AND client_id = ?2",
        )?
        .query_row([session.as_str(), client_id], |row| {
            Ok((rows::id(row, "id")?, row.get("fingerprint")?))
        })
        .optional()?;
    if let Some((id, asked)) = turn {
        return Ok(match by_id(db, &id)? {
            Some(turn) if asked.as_deref() == fingerprint => Known::Turn(Box::new(turn)),
            _ => Known::Reused,
        });
    }
    if let Some((follow_up, asked)) = follow_ups::find(db, session, client_id)? {
        return Ok(match follow_up.state {
            _ if Some(asked.as_str()) != fingerprint => Known::Reused,
            FollowUpState::Pending | FollowUpState::Delivered => {
                Known::FollowUp(Box::new(follow_up))
            }
            FollowUpState::Returned | FollowUpState::Dropped => Known::No,
        });
    }
    let taken = db
        .prepare_cached("SELECT 1 FROM message WHERE session_id = ?1 AND id = ?2")?
        .exists([session.as_str(), client_id])?;
    Ok(if taken { Known::Reused } else { Known::No })
}
