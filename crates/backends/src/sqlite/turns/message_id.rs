//! Finds what a client's message id is already used for.

use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension};

use super::by_id;
use crate::rows::StoreRow;
use crate::rules::message_id_use::{MessageIdUse, used_by_follow_up, used_by_turn};
use crate::sqlite::error::SqliteError;
use crate::sqlite::follow_ups;

pub(crate) fn find_message_id(
    db: &Connection,
    session: &SessionId,
    client_id: &str,
    fingerprint: Option<&str>,
) -> Result<MessageIdUse, SqliteError> {
    let turn: Option<(TurnId, Option<String>)> = db
        .prepare_cached(
            "SELECT id, fingerprint FROM turn WHERE session_id = ?1 AND client_id = ?2",
        )?
        .query_row([session.as_str(), client_id], |row| {
            Ok((row.id("id")?, row.get("fingerprint")?))
        })
        .optional()?;
    if let Some((id, stored)) = turn {
        let turn = by_id(db, &id)?.ok_or_else(|| SqliteError::broken("a turn cannot be found"))?;
        return Ok(used_by_turn(turn, stored.as_deref(), fingerprint));
    }
    if let Some((follow_up, stored)) = follow_ups::find(db, session, client_id)? {
        return Ok(used_by_follow_up(follow_up, Some(&stored), fingerprint));
    }
    // The id of a row whose id no client chose cannot be used again.
    let exists = db
        .prepare_cached("SELECT 1 FROM message WHERE session_id = ?1 AND id = ?2")?
        .exists([session.as_str(), client_id])?;
    Ok(if exists { MessageIdUse::Reused } else { MessageIdUse::Free })
}
