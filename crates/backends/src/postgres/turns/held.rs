//! The rows that a running turn writes to, locked, if its claim still holds.

use futures::future::try_join;
use protocol::turn::Claim;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::stream_log::count_fenced;
use super::super::text::Text;

pub(super) struct Held {
    pub(super) ordinal: i64,
    /// The last sequence of the session's messages.
    pub(super) last_sequence: i64,
    pub(super) last_record: Option<String>,
    /// How long the turn has run, by the clock of the database.
    pub(super) ran_ms: i64,
}

const SESSION: &str = "SELECT last_sequence FROM session WHERE id = $1 FOR UPDATE";
const TURN: &str = "\
    SELECT ordinal, last_record,
        (extract(epoch FROM clock_timestamp() - started) * 1000)::bigint AS ran_ms
    FROM turn WHERE id = $1 AND fence = $2 AND status = 'running' FOR UPDATE";

/// Whoever gets `None` must change nothing.
pub(super) async fn lock(db: &Connection, claim: &Claim) -> Result<Option<Held>, Fault> {
    // The session before the turn, as everywhere: so they are sent in this order.
    db.prepare(&[SESSION, TURN]).await?;
    let (session, turn) = try_join(
        db.query_opt(SESSION, &[&Text(claim.session_id.as_str())]),
        db.query_opt(TURN, &[&Text(claim.turn_id.as_str()), &(claim.fence as i64)]),
    )
    .await?;
    let (Some(session), Some(turn)) = (session, turn) else {
        count_fenced();
        return Ok(None);
    };
    Ok(Some(Held {
        ordinal: rows::get(&turn, "ordinal")?,
        last_sequence: rows::get(&session, "last_sequence")?,
        last_record: rows::get(&turn, "last_record")?,
        ran_ms: rows::get::<Option<i64>>(&turn, "ran_ms")?.unwrap_or(0).max(0),
    }))
}
