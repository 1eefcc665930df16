//! Inserts the row of a new turn, with an empty stream log.

use protocol::turn::TurnRequest;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, params};

use super::super::error::SqliteError;
use super::super::{StoreTime, stream_log};
use crate::submission_key::SubmissionKey;

pub(in super::super) struct NewTurnRow<'a> {
    pub(in super::super) id: &'a TurnId,
    pub(in super::super) session: &'a SessionId,
    pub(in super::super) ordinal: i64,
    pub(in super::super) request: &'a TurnRequest,
    pub(in super::super) submission: SubmissionKey<'a>,
    pub(in super::super) parent: Option<&'a TurnId>,
    pub(in super::super) quota_key: &'a str,
    /// When to push it to the queue; `None` for a turn without a concurrency permit.
    pub(in super::super) due_ms: Option<i64>,
}

pub(in super::super) fn insert(
    db: &Connection,
    now: StoreTime,
    row: &NewTurnRow<'_>,
) -> Result<(), SqliteError> {
    let request = serde_json::to_string(row.request)
        .map_err(|error| SqliteError::broken(error.to_string()))?;
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
