//! The history: written a row at a time by turns, read in pages by people.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{MessagePage, Messages};
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{CallId, SessionId, TurnId};

use super::connection::Connection;
use super::fault::Fault;
use super::rows::message_columns;
use super::text::{Text, optional};
use super::{Postgres, rows, sessions};
use crate::exchanges::OpenExchanges;
use crate::words;

/// Rows that are read beyond what was asked for, to find the calls of the first results in the same go.
const MORE: i64 = 16;

#[async_trait]
impl Messages for Postgres {
    async fn page(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
        before: Option<i64>,
    ) -> PortResult<Option<MessagePage>> {
        self.read(|db| async move {
            if sessions::find(&db, owner, session).await?.is_none() {
                return Ok(None);
            }
            page(&db, session, limit, before).await.map(Some)
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
    pub(super) wall_us: i64,
}

pub(super) const INSERT: &str = "\
    INSERT INTO message (session_id, sequence, id, turn_id, ordinal, created_at, role, content,
        reasoning, tool_calls, tool_call_id, name, outcome, model, duration_ms, metadata,
        provider_state)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";

/// Adds a row. Whoever holds the row of the session knows the next sequence and stores the last.
pub(super) async fn insert(
    db: &Connection,
    to: Belongs<'_>,
    sequence: i64,
    message: &NewMessage,
    duration_ms: Option<i64>,
) -> Result<(), Fault> {
    let calls = match message.tool_calls.as_slice() {
        [] => None,
        calls => Some(serde_json::to_string(calls).map_err(|e| Fault::broken(e.to_string()))?),
    };
    let metadata = message.metadata.as_ref().map(ToString::to_string);
    let provider_state = message.provider_state.as_ref().map(ToString::to_string);
    db.query(
        INSERT,
        &[
            &Text(to.session.as_str()),
            &sequence,
            &Text(message.id.as_str()),
            &Text(to.turn.as_str()),
            &to.ordinal,
            &to.wall_us,
            &message.role.as_str(),
            &Text(&message.content),
            &optional(message.reasoning.as_deref()),
            &optional(calls.as_deref()),
            &optional(message.tool_call_id.as_ref().map(CallId::as_str)),
            &optional(message.name.as_deref()),
            &message.outcome.map(words::outcome_word),
            &optional(message.model.as_deref()),
            &duration_ms,
            &optional(metadata.as_deref()),
            &optional(provider_state.as_deref()),
        ],
    )
    .await?;
    Ok(())
}

/// Reads backwards until the page is full and every result on it has its call on it, too.
async fn page(
    db: &Connection,
    session: &SessionId,
    limit: u32,
    before: Option<i64>,
) -> Result<MessagePage, Fault> {
    let mut before = before.unwrap_or(i64::MAX);
    let wanted = i64::from(limit) + MORE;
    let mut messages = Vec::new();
    let mut open = OpenExchanges::default();
    let mut has_more = false;
    'reading: loop {
        let found = db
            .query(
                concat!(
                    "SELECT ",
                    message_columns!(),
                    " FROM message AS m JOIN turn AS t ON t.id = m.turn_id
                     WHERE m.session_id = $1 AND m.sequence < $2 AND m.superseded_by IS NULL
                       AND (m.role = 'user' OR t.status NOT IN ('queued', 'running'))
                     ORDER BY m.sequence DESC LIMIT $3"
                ),
                &[&Text(session.as_str()), &before, &wanted],
            )
            .await?;
        for row in &found {
            if messages.len() >= limit as usize && open.none() {
                has_more = true;
                break 'reading;
            }
            let message = rows::message(row)?;
            before = message.sequence;
            open.pass(&message);
            messages.push(message);
        }
        if (found.len() as i64) < wanted {
            break;
        }
    }
    messages.reverse();
    let oldest_sequence = messages.first().map(|message| message.sequence);
    Ok(MessagePage { messages, has_more, oldest_sequence })
}
