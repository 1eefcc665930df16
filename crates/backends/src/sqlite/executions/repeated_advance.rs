//! Replies to an advance that was not written, above all to a repeated one, whose first reply was lost.

use ports::Fenced;
use ports::store::ExecutionAdvanced;
use rusqlite::{Connection, OptionalExtension, params};

use super::advance::PreparedAdvance;
use crate::rows::StoreRow;
use crate::rules::advance::{LastAdvance, reply_to_repeated};
use crate::sqlite::error::SqliteError;

pub(crate) fn reply(
    db: &Connection,
    prepared: &PreparedAdvance,
) -> Result<Fenced<ExecutionAdvanced>, SqliteError> {
    let claim = &prepared.claim;
    let last = db
        .prepare_cached(
            "SELECT status, events, last_advance, last_decided FROM execution
             WHERE id = ?1 AND fence = ?2",
        )?
        .query_row(params![claim.execution_id.as_str(), claim.fence as i64], |row| {
            Ok(LastAdvance {
                status: row.word("status")?,
                events: row.number("events")?,
                fingerprint: row.optional_bytes("last_advance")?.map(<[u8]>::to_vec),
                decided: row.flag("last_decided")?,
            })
        })
        .optional()?;
    Ok(reply_to_repeated(last, &prepared.advance, &prepared.fingerprint)?)
}
