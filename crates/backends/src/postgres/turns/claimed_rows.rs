//! Locks the session and turn rows that a running turn writes to, if its claim is valid.

use futures::future::try_join;
use protocol::turn::TurnClaim;

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::rows;
use super::super::stream_log::count_fenced;
use super::super::text_param::TextParam;

pub(in super::super) struct ClaimedRows {
    pub(in super::super) ordinal: i64,
    /// The last ordinal of the session's turns, and the last sequence of its messages.
    pub(in super::super) last_ordinal: i64,
    pub(in super::super) last_sequence: i64,
    pub(super) last_record: Option<String>,
    pub(in super::super) cancel_requested: bool,
    /// How long the turn has run, by the clock of the database.
    pub(super) ran_ms: i64,
}

impl ClaimedRows {
    /// Ordinal for the messages the turn writes. An operation outside the order writes behind the newest turn.
    pub(in super::super) fn message_ordinal(&self) -> i64 {
        if self.ordinal > 0 { self.ordinal } else { self.last_ordinal }
    }
}

const SESSION: &str = "SELECT last_ordinal, last_sequence FROM session WHERE id = $1 FOR UPDATE";
const TURN: &str = "\
    SELECT ordinal, last_record, cancel_requested,
        (extract(epoch FROM clock_timestamp() - started) * 1000)::bigint AS ran_ms
    FROM turn WHERE id = $1 AND fence = $2 AND status = 'running' FOR UPDATE";

/// Returns `None` when the claim is stale; the caller must then write nothing.
pub(in super::super) async fn lock(
    db: &PooledConnection,
    claim: &TurnClaim,
) -> Result<Option<ClaimedRows>, PostgresError> {
    // The session before the turn, as everywhere: so they are sent in this order.
    db.prepare(&[SESSION, TURN]).await?;
    let (session, turn) = try_join(
        db.query_opt(SESSION, &[&TextParam(claim.session_id.as_str())]),
        db.query_opt(TURN, &[&TextParam(claim.turn_id.as_str()), &(claim.fence as i64)]),
    )
    .await?;
    let (Some(session), Some(turn)) = (session, turn) else {
        count_fenced();
        return Ok(None);
    };
    Ok(Some(ClaimedRows {
        ordinal: rows::get(&turn, "ordinal")?,
        last_ordinal: rows::get(&session, "last_ordinal")?,
        last_sequence: rows::get(&session, "last_sequence")?,
        last_record: rows::get(&turn, "last_record")?,
        cancel_requested: rows::get(&turn, "cancel_requested")?,
        ran_ms: rows::get::<Option<i64>>(&turn, "ran_ms")?.unwrap_or(0).max(0),
    }))
}
