//! Locks the session and turn rows that a running turn writes to, if its claim is valid.

use futures::future::try_join;
use protocol::turn::TurnClaim;

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::messages::MessagePosition;
use crate::rules::fenced_writes::count_fenced;

pub(crate) struct ClaimedRows {
    pub(crate) ordinal: i64,
    /// The last ordinal of the session's turns, and the last sequence of its messages.
    pub(crate) last_ordinal: i64,
    pub(crate) last_sequence: i64,
    pub(crate) last_record: Option<String>,
    pub(crate) cancel_requested: bool,
    /// How long the turn has run, by the clock of the database.
    pub(crate) ran_ms: i64,
}

impl ClaimedRows {
    /// Ordinal for the messages the turn writes. An operation outside the order writes behind the newest turn.
    fn message_ordinal(&self) -> i64 {
        if self.ordinal > 0 { self.ordinal } else { self.last_ordinal }
    }

    pub(crate) fn message_position<'a>(
        &self,
        claim: &'a TurnClaim,
        wall_us: i64,
    ) -> MessagePosition<'a> {
        MessagePosition::of_claim(claim, self.message_ordinal(), wall_us)
    }
}

const SESSION: &str = "SELECT last_ordinal, last_sequence FROM session WHERE id = $1 FOR UPDATE";
const TURN: &str = "\
    SELECT ordinal, last_record, cancel_requested,
        (extract(epoch FROM clock_timestamp() - started) * 1000)::bigint AS ran_ms
    FROM turn WHERE id = $1 AND fence = $2 AND status = 'running' FOR UPDATE";

/// Returns `None` when the claim is stale; the caller must then write nothing.
pub(crate) async fn lock(
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
        ordinal: turn.integer("ordinal")?,
        last_ordinal: session.integer("last_ordinal")?,
        last_sequence: session.integer("last_sequence")?,
        last_record: turn.optional_text("last_record")?,
        cancel_requested: turn.flag("cancel_requested")?,
        ran_ms: turn.optional_integer("ran_ms")?.unwrap_or(0).max(0),
    }))
}
