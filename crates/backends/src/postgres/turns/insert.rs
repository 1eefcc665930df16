//! The row of a new turn, with its log.

use std::time::Duration;

use futures::future::try_join;
use protocol::turn::{Turn, TurnRequest};
use protocol::{SessionId, TurnId};

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::leases::seconds;
use super::super::rows;
use super::super::rows::{of_turn, turn_columns};
use super::super::text::{Text, optional};

pub(in super::super) struct NewRow<'a> {
    pub(in super::super) id: &'a TurnId,
    pub(in super::super) session: &'a SessionId,
    pub(in super::super) ordinal: i64,
    pub(in super::super) slot: &'a str,
    pub(in super::super) admitted: bool,
    pub(in super::super) request: &'a TurnRequest,
    pub(in super::super) asked: Asked<'a>,
    pub(in super::super) parent: Option<&'a TurnId>,
    pub(in super::super) cancel_requested: bool,
    pub(in super::super) push_grace: Duration,
    pub(in super::super) wall_us: i64,
}

/// How a submission is recognised when it comes again.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Asked<'a> {
    pub(in super::super) client_id: Option<&'a str>,
    pub(in super::super) fingerprint: Option<&'a str>,
}

/// What `insert` sends, for who wants to send more behind it.
pub(super) const STATEMENTS: [&str; 2] = [INSERT, CREATE_LOG];

const CREATE_LOG: &str =
    "INSERT INTO log (task_id, fence, last_seq, sealed) VALUES ($1, 0, 0, false)";
// The message that a turn streams is named after it: the rows of an answer name their turn, so a client that has them
// recognises what a replay streams and does not show it twice.
const INSERT: &str = concat!(
    "WITH t AS (
         INSERT INTO turn (id, message_id, session_id, ordinal, slot, admitted, status, request,
             client_id, fingerprint, due, created_at, parent_turn_id, cancel_requested)
         VALUES ($1, $1, $2, $3, $4, $5, 'queued', $6, $7, $8,
             CASE WHEN $5 OR $12 THEN clock_timestamp() + $9 * interval '1 second' END, $10, $11,
             $12)
         RETURNING *)
     SELECT ",
    turn_columns!(),
    " FROM t",
    of_turn!()
);

/// Adds a turn, with an empty log. It is due, after the grace its opener asked for, if it may run; else the end of
/// another one makes it due.
pub(in super::super) async fn insert(db: &Connection, new: NewRow<'_>) -> Result<Turn, Fault> {
    let request =
        serde_json::to_string(new.request).map_err(|error| Fault::broken(error.to_string()))?;
    let id = Text(new.id.as_str());
    let (row, _) = try_join(
        db.query_one(
            INSERT,
            &[
                &id,
                &Text(new.session.as_str()),
                &new.ordinal,
                &Text(new.slot),
                &new.admitted,
                &Text(&request),
                &optional(new.asked.client_id),
                &optional(new.asked.fingerprint),
                &seconds(new.push_grace),
                &new.wall_us,
                &optional(new.parent.map(TurnId::as_str)),
                &new.cancel_requested,
            ],
        ),
        db.query(CREATE_LOG, &[&id]),
    )
    .await?;
    rows::turn(&row)
}
