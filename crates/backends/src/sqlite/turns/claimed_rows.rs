//! Finds the row that a running turn writes to, if its claim is valid.

use protocol::turn::TurnClaim;
use rusqlite::{Connection, OptionalExtension, params};

use crate::rows::messages::MessagePosition;
use crate::rules::fenced_writes::count_fenced;
use crate::sqlite::error::SqliteError;

/// A running turn whose claim is valid.
#[derive(Clone, Copy)]
pub(crate) struct ClaimedOrdinals {
    /// Negative while the turn is outside the order of its session.
    pub(crate) ordinal: i64,
    /// Ordinal for the messages it writes: for a turn outside the order, that of the newest turn.
    message_ordinal: i64,
}

impl ClaimedOrdinals {
    pub(crate) fn message_position(self, claim: &TurnClaim, wall_us: i64) -> MessagePosition<'_> {
        MessagePosition::of_claim(claim, self.message_ordinal, wall_us)
    }
}

/// Returns `None` when the claim is stale; the caller must then write nothing.
pub(crate) fn find_claimed(
    db: &Connection,
    claim: &TurnClaim,
) -> Result<Option<ClaimedOrdinals>, SqliteError> {
    let claimed = db
        .prepare_cached(
            "SELECT ordinal, iif(ordinal > 0, ordinal,
                 (SELECT s.last_ordinal FROM session AS s WHERE s.id = session_id)) AS rows_at
             FROM turn WHERE id = ?1 AND fence = ?2 AND status = 'running'",
        )?
        .query_row(params![claim.turn_id.as_str(), claim.fence as i64], |row| {
            Ok(ClaimedOrdinals {
                ordinal: row.get("ordinal")?,
                message_ordinal: row.get("rows_at")?,
            })
        })
        .optional()?;
    if claimed.is_none() {
        count_fenced();
    }
    Ok(claimed)
}
