//! The history: written a row at a time by turns, read in pages by people.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{MessagePage, Messages};
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{CallId, SessionId, TurnId};
use rusqlite::{Connection, params};

use super::fault::Fault;
use super::{Sqlite, rows, sessions};
use crate::exchanges::OpenExchanges;
use crate::words;

#[async_trait]
impl Messages for Sqlite {
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

/// Where a new row belongs.
#[derive(Clone, Copy)]
pub(super) struct Belongs<'a> {
    pub(super) session: &'a SessionId,
    pub(super) turn: &'a TurnId,
    pub(super) ordinal: i64,
}

/// Adds a row with the next sequence of the session.
pub(super) fn insert(
    db: &Connection,
    to: Belongs<'_>,
    message: &NewMessage,
    wall_us: i64,
) -> Result<(), Fault> {
    let sequence: i64 = db
        .prepare_cached(
            "UPDATE session SET last_sequence = last_sequence + 1 WHERE id = ?1
             RETURNING last_sequence",
        )?
        .query_row([to.session.as_str()], |row| row.get(0))?;
    let calls = match message.tool_calls.as_slice() {
        [] => None,
        calls => Some(serde_json::to_string(calls).map_err(|e| Fault::broken(e.to_string()))?),
    };
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
        wall_us,
        message.role.as_str(),
        message.content,
        message.reasoning,
        calls,
        message.tool_call_id.as_ref().map(CallId::as_str),
        message.name,
        message.outcome.map(words::outcome_word),
        message.model,
        message.metadata.as_ref().map(ToString::to_string),
        message.provider_state.as_ref().map(ToString::to_string),
    ])?;
    Ok(())
}

/// The same for the result of a tool call, which has one.
pub(super) fn insert_result(
    db: &Connection,
    to: Belongs<'_>,
    message: &NewMessage,
    wall_us: i64,
) -> Result<(), Fault> {
    insert(db, to, message, wall_us).map_err(|fault| {
        if fault.is_constraint() {
            Fault::broken("a tool call has its result already")
        } else {
            fault
        }
    })
}

/// Reads backwards until the page is full and every result on it has its call on it, too.
fn page(
    db: &Connection,
    session: &SessionId,
    limit: u32,
    before: Option<i64>,
) -> Result<MessagePage, Fault> {
    let mut select = db.prepare_cached(&format!(
        "SELECT {} FROM message AS m JOIN turn AS t ON t.id = m.turn_id
         WHERE m.session_id = ?1 AND m.sequence < ?2 AND m.superseded_by IS NULL
           AND (m.role = 'user' OR t.status NOT IN ('queued', 'running'))
         ORDER BY m.sequence DESC",
        rows::MESSAGE
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
        let message = rows::message(row)?;
        open.pass(&message);
        messages.push(message);
    }
    messages.reverse();
    let oldest_sequence = messages.first().map(|message| message.sequence);
    Ok(MessagePage { messages, has_more, oldest_sequence })
}
