//! The row of a new turn, with an empty log.

use protocol::turn::TurnRequest;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, params};

use super::super::fault::Fault;
use super::super::{Moment, stream_log};

pub(in super::super) struct NewRow<'a> {
    pub(in super::super) id: &'a TurnId,
    pub(in super::super) session: &'a SessionId,
    pub(in super::super) ordinal: i64,
    pub(in super::super) request: &'a TurnRequest,
    pub(in super::super) asked: Asked<'a>,
    pub(in super::super) parent: Option<&'a TurnId>,
    pub(in super::super) slot: &'a str,
    /// When the queue should be told, for one that has a place.
    pub(in super::super) due_ms: Option<i64>,
}

/// How a submission is recognised when it comes again.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Asked<'a> {
    pub(in super::super) client_id: Option<&'a str>,
    pub(in super::super) fingerprint: Option<&'a str>,
}

pub(in super::super) fn insert(
    db: &Connection,
    now: Moment,
    row: &NewRow<'_>,
) -> Result<(), Fault> {
    let request =
        serde_json::to_string(row.request).map_err(|error| Fault::broken(error.to_string()))?;
    db.prepare_cached(
        "INSERT INTO turn (id, session_id, ordinal, status, message_id, request, client_id,
             fingerprint, parent_turn_id, due_ms, created_at, slot, admitted)
         VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        row.id.as_str(),
        row.session.as_str(),
        row.ordinal,
        // The rows of an answer name their turn, so a client that has them recognises the message
        // that a replay streams and does not show it twice.
        row.id.as_str(),
        request,
        row.asked.client_id,
        row.asked.fingerprint,
        row.parent.map(TurnId::as_str),
        row.due_ms,
        now.wall_us,
        row.slot,
        row.due_ms.is_some(),
    ])?;
    stream_log::create(db, &row.id.task())
}
