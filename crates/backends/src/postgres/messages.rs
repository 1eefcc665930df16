//! Message history: written row by row by turns, read in pages.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{MessagePage, Messages};
use protocol::message::{NewMessage, ToolOutcome};
use protocol::session::Owner;
use protocol::{CallId, SessionId};

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::{TextParam, optional};
use super::{PostgresStore, sessions};
use crate::rows::messages::{MessageJson, MessagePosition, message, message_columns, page_of};
use crate::rules::open_exchanges::OpenExchanges;

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

pub(crate) const INSERT: &str = "\
    INSERT INTO message (session_id, sequence, id, turn_id, ordinal, created_at, role, content,
        reasoning, tool_calls, tool_call_id, name, outcome, model, duration_ms, metadata,
        provider_state)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";

/// Adds a row. The caller holds the row lock of the session, so it knows the next sequence and stores the last one.
pub(crate) async fn insert(
    db: &PooledConnection,
    to: MessagePosition<'_>,
    sequence: i64,
    message: &NewMessage,
    duration_ms: Option<i64>,
) -> Result<(), PostgresError> {
    let json = MessageJson::of(message)?;
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
            &optional(json.tool_calls.as_deref()),
            &optional(message.tool_call_id.as_ref().map(CallId::as_str)),
            &optional(message.name.as_deref()),
            &message.outcome.map(ToolOutcome::as_str),
            &optional(message.model.as_deref()),
            &duration_ms,
            &optional(json.metadata.as_deref()),
            &optional(json.provider_state.as_deref()),
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
            let message = message(row)?;
            before = message.sequence;
            open.pass(&message);
            messages.push(message);
        }
        if (found.len() as i64) < wanted {
            break;
        }
    }
    Ok(page_of(messages, has_more))
}
