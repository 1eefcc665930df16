//! How an advance that is given again is recognised, when its answer was not heard.

use ports::Fenced;
use ports::store::ExecutionAdvanced;
use protocol::execution::ExecutionStatus;
use rusqlite::{Connection, OptionalExtension};

use super::super::fault::Fault;
use super::super::rows;
use super::super::stream_log::count_fenced;
use super::advance::Step;

/// The answer to an advance that was not written.
pub(super) fn answer(db: &Connection, step: &Step) -> Result<Fenced<ExecutionAdvanced>, Fault> {
    let found = db
        .prepare_cached(
            "SELECT fence, status, events, last_advance, last_decided FROM execution WHERE id = ?1",
        )?
        .query_row([step.claim.execution_id.as_str()], |row| {
            Ok(Last {
                fence: rows::number(row, "fence")?,
                status: rows::word(row, "status", ExecutionStatus::parse)?,
                events: rows::number(row, "events")?,
                advance: row.get("last_advance")?,
                decided: row.get("last_decided")?,
            })
        })
        .optional()?;
    let Some(last) = found.filter(|last| last.fence == step.claim.fence) else {
        count_fenced();
        return Ok(Fenced::Stale);
    };
    if last.advance.as_deref() == Some(step.fingerprint.as_slice()) {
        let answer =
            if last.decided { ExecutionAdvanced::Decided } else { ExecutionAdvanced::Done };
        return Ok(Fenced::Done(answer));
    }
    if last.status != ExecutionStatus::Running {
        count_fenced();
        return Ok(Fenced::Stale);
    }
    Err(Fault::broken(format!(
        "an advance after {} events of a journal that has {}",
        step.advance.after, last.events
    )))
}

struct Last {
    fence: u64,
    status: ExecutionStatus,
    events: u64,
    advance: Option<Vec<u8>>,
    decided: bool,
}
