//! Inserts the row of a new turn, with an empty stream log.

use protocol::turn::TurnRequest;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, params};

use crate::rules::json::to_json;
use crate::rules::submission_key::SubmissionKey;
use crate::sqlite::error::SqliteError;
use crate::sqlite::{StoreTime, stream_log};

pub(crate) struct NewTurnRow<'a> {
    pub(crate) id: &'a TurnId,
    pub(crate) session: &'a SessionId,
    pub(crate) ordinal: i64,
    pub(crate) request: &'a TurnRequest,
    pub(crate) submission: SubmissionKey<'a>,
    pub(crate) parent: Option<&'a TurnId>,
    pub(crate) quota_key: &'a str,
    /// When to push it to the queue; `None` for a turn without a concurrency permit.
    pub(crate) due_ms: Option<i64>,
}

pub(crate) fn insert(
    db: &Connection,
    now: StoreTime,
    row: &NewTurnRow<'_>,
) -> Result<(), SqliteError> {
    let request = to_json(row.request)?;
    db.prepare_cached(
        "INSERT INTO turn (id, session_id, ordinal, status, message_id, request, client_id,
             fingerprint, parent_turn_id, due_ms, created_at, slot, admitted)
         VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        row.id.as_str(),
        row.session.as_str(),
        row.ordinal,
        // The streamed message has the id of its turn, as have the stored rows of the response, so a client that has
        // them recognizes the message in a replay and does not show it twice.
        row.id.as_str(),
        request,
        row.submission.client_id,
        row.submission.fingerprint,
        row.parent.map(TurnId::as_str),
        row.due_ms,
        now.wall_us,
        row.quota_key,
        row.due_ms.is_some(),
    ])?;
    stream_log::create(db, &row.id.task())
}
