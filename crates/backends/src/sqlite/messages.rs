//! Message history: written row by row by turns, read in pages.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{MessagePage, Messages};
use protocol::message::{NewMessage, ToolOutcome};
use protocol::session::Owner;
use protocol::{CallId, SessionId};
use rusqlite::{Connection, params};

use super::error::SqliteError;
use super::{SqliteStore, sessions};
use crate::rows::messages::{MessageJson, MessagePosition, message, message_columns, page_of};
use crate::rules::open_exchanges::OpenExchanges;

#[async_trait]
impl Messages for SqliteStore {
    async fn page(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
        before: Option<i64>,
    ) -> PortResult<Option<MessagePage>> {
        let (owner, session) = (owner.clone(), session.clone());
        self.readers
            .run(move |db| {
                if sessions::find(db, &owner, &session)?.is_none() {
                    return Ok(None);
                }
                page(db, &session, limit, before).map(Some)
            })
            .await
    }
}

/// Adds a row with the next sequence of the session.
pub(crate) fn insert(
    db: &Connection,
    to: MessagePosition<'_>,
    message: &NewMessage,
) -> Result<(), SqliteError> {
    let sequence: i64 = db
        .prepare_cached(
            "UPDATE session SET last_sequence = last_sequence + 1 WHERE id = ?1
             RETURNING last_sequence",
        )?
        .query_row([to.session.as_str()], |row| row.get(0))?;
    let json = MessageJson::of(message)?;
    db.prepare_cached(
        "INSERT INTO message (session_id, sequence, id, turn_id, ordinal, created_at, role, content,
             reasoning, tool_calls, tool_call_id, name, outcome, model, metadata, provider_state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?
    .execute(params![
        to.session.as_str(),
        sequence,
        message.id.as_str(),
        to.turn.as_str(),
        to.ordinal,
        to.wall_us,
        message.role.as_str(),
        message.content,
        message.reasoning,
        json.tool_calls,
        message.tool_call_id.as_ref().map(CallId::as_str),
        message.name,
        message.outcome.map(ToolOutcome::as_str),
        message.model,
        json.metadata,
        json.provider_state,
    ])?;
    Ok(())
}

/// Adds the result of a tool call; a call has at most one.
pub(crate) fn insert_result(
    db: &Connection,
    to: MessagePosition<'_>,
    message: &NewMessage,
) -> Result<(), SqliteError> {
    insert(db, to, message).map_err(|fault| {
        if fault.is_constraint() {
            SqliteError::broken("the tool call already has a result")
        } else {
            fault
        }
    })
}

/// Reads backwards until the page is full and contains the call of every result on it.
fn page(
    db: &Connection,
    session: &SessionId,
    limit: u32,
    before: Option<i64>,
) -> Result<MessagePage, SqliteError> {
    let mut select = db.prepare_cached(concat!(
        "SELECT ",
        message_columns!(),
        " FROM message AS m JOIN turn AS t ON t.id = m.turn_id
         WHERE m.session_id = ?1 AND m.sequence < ?2 AND m.superseded_by IS NULL
           AND (m.role = 'user' OR t.status NOT IN ('queued', 'running'))
         ORDER BY m.sequence DESC"
    ))?;
    let mut found = select.query(params![session.as_str(), before.unwrap_or(i64::MAX)])?;
    let mut messages = Vec::new();
    let mut open = OpenExchanges::default();
    let mut has_more = false;
    while let Some(row) = found.next()? {
        if messages.len() >= limit as usize && open.none() {
            has_more = true;
            break;
        }
        let message = message(row)?;
        open.pass(&message);
        messages.push(message);
    }
    Ok(page_of(messages, has_more))
}
