//! Inserts the row of a new turn, with its stream log.

use std::time::Duration;

use futures::future::try_join;
use protocol::turn::{Turn, TurnRequest};
use protocol::{SessionId, TurnId};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::leases::seconds;
use crate::postgres::text_param::{TextParam, optional};
use crate::rows::turns::{of_turn, turn, turn_columns};
use crate::rules::json::to_json;
use crate::rules::submission_key::SubmissionKey;

pub(crate) struct TurnInsert<'a> {
    pub(crate) id: &'a TurnId,
    pub(crate) session: &'a SessionId,
    pub(crate) ordinal: i64,
    pub(crate) quota_key: &'a str,
    pub(crate) admitted: bool,
    pub(crate) request: &'a TurnRequest,
    pub(crate) submission: SubmissionKey<'a>,
    pub(crate) parent: Option<&'a TurnId>,
    pub(crate) cancel_requested: bool,
    pub(crate) push_grace: Duration,
    pub(crate) wall_us: i64,
}

/// The statements of `insert`, for callers that send more behind them.
pub(crate) const STATEMENTS: [&str; 2] = [INSERT, CREATE_LOG];

const CREATE_LOG: &str =
    "INSERT INTO log (task_id, fence, last_seq, sealed) VALUES ($1, 0, 0, false)";
// The streamed message has the id of its turn, as have the stored rows of the response, so a client that has them
// recognizes the message in a replay and does not show it twice.
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

/// Adds a turn, with an empty stream log. An admitted turn is due after the grace period its caller asked for; any
/// other becomes due when another turn ends.
pub(crate) async fn insert(
    db: &PooledConnection,
    new: TurnInsert<'_>,
) -> Result<Turn, PostgresError> {
    let request = to_json(new.request)?;
    let id = TextParam(new.id.as_str());
    let (row, _) = try_join(
        db.query_one(
            INSERT,
            &[
                &id,
                &TextParam(new.session.as_str()),
                &new.ordinal,
                &TextParam(new.quota_key),
                &new.admitted,
                &TextParam(&request),
                &optional(new.submission.client_id),
                &optional(new.submission.fingerprint),
                &seconds(new.push_grace),
                &new.wall_us,
                &optional(new.parent.map(TurnId::as_str)),
                &new.cancel_requested,
            ],
        ),
        db.query(CREATE_LOG, &[&id]),
    )
    .await?;
    turn(&row)
}
