//! Message history: written row by row by turns, read in pages.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{MessagePage, Messages};
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{CallId, SessionId, TurnId};

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::rows::message_columns;
use super::text_param::{TextParam, optional};
use super::{PostgresStore, rows, sessions};
use crate::exchanges::OpenExchanges;
use crate::words;

/// Extra rows read with a page, to find the calls of its first results in the same query.
const EXTRA_ROWS: i64 = 16;

#[async_trait]
impl Messages for PostgresStore {
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

/// Session, turn and ordinal of a new row.
#[derive(Clone, Copy)]
pub(super) struct MessageRowPosition<'a> {
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

/// Adds a row. The caller holds the row lock of the session, so it knows the next sequence and stores the last one.
pub(super) async fn insert(
    db: &PooledConnection,
    to: MessageRowPosition<'_>,
    sequence: i64,
    message: &NewMessage,
    duration_ms: Option<i64>,
) -> Result<(), PostgresError> {
    let calls = match message.tool_calls.as_slice() {
        [] => None,
        calls => {
            Some(serde_json::to_string(calls).map_err(|e| PostgresError::broken(e.to_string()))?)
        }
    };
    let metadata = message.metadata.as_ref().map(ToString::to_string);
    let provider_state = message.provider_state.as_ref().map(ToString::to_string);
    db.query(
        INSERT,
        &[
            &TextParam(to.session.as_str()),
            &sequence,
            &TextParam(message.id.as_str()),
            &TextParam(to.turn.as_str()),
            &to.ordinal,
            &to.wall_us,
            &message.role.as_str(),
            &TextParam(&message.content),
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

/// Reads backwards until the page is full and contains the call of every result on it.
async fn page(
    db: &PooledConnection,
    session: &SessionId,
    limit: u32,
    before: Option<i64>,
) -> Result<MessagePage, PostgresError> {
    let mut before = before.unwrap_or(i64::MAX);
    let wanted = i64::from(limit) + EXTRA_ROWS;
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
                &[&TextParam(session.as_str()), &before, &wanted],
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
