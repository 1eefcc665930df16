//! Recognizes a repeated advance, whose first reply was lost.

use ports::Fenced;
use ports::store::ExecutionAdvanced;
use protocol::execution::ExecutionStatus;
use rusqlite::{Connection, OptionalExtension};

use super::super::error::SqliteError;
use super::super::rows;
use super::super::stream_log::count_fenced;
use super::advance::PreparedAdvance;

/// The reply to an advance that was not written.
pub(super) fn reply(
    db: &Connection,
    prepared: &PreparedAdvance,
) -> Result<Fenced<ExecutionAdvanced>, SqliteError> {
    let found = db
        .prepare_cached(
            "SELECT fence, status, events, last_advance, last_decided FROM execution WHERE id = ?1",
        )?
        .query_row([prepared.claim.execution_id.as_str()], |row| {
            Ok(LastAdvance {
                fence: rows::number(row, "fence")?,
                status: rows::word(row, "status", ExecutionStatus::parse)?,
                events: rows::number(row, "events")?,
                advance: row.get("last_advance")?,
                decided: row.get("last_decided")?,
            })
        })
        .optional()?;
    let Some(last) = found.filter(|last| last.fence == prepared.claim.fence) else {
        count_fenced();
        return Ok(Fenced::Stale);
    };
    if last.advance.as_deref() == Some(prepared.fingerprint.as_slice()) {
        let reply = if last.decided { ExecutionAdvanced::Decided } else { ExecutionAdvanced::Done };
        return Ok(Fenced::Done(reply));
    }
    if last.status != ExecutionStatus::Running {
        count_fenced();
        return Ok(Fenced::Stale);
    }
    Err(SqliteError::broken(format!(
        "an advance after {} events, but the journal has {}",
        prepared.advance.after, last.events
    )))
}

struct LastAdvance {
    fence: u64,
    status: ExecutionStatus,
    events: u64,
    advance: Option<Vec<u8>>,
    decided: bool,
}
