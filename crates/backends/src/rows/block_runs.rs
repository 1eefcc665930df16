//! Rows of executions of single blocks.

use ports::store::{BlockOutcome, BlockRunBegun};

use super::StoreRow;

/// An earlier start with the same key.
pub(crate) fn begun_before<R: StoreRow>(row: &R) -> Result<BlockRunBegun, R::Error> {
    Ok(match row.optional_json("outputs")? {
        None => BlockRunBegun::Open,
        Some(outputs) => {
            BlockRunBegun::Ended(BlockOutcome { outputs, error: row.optional_text("error")? })
        }
    })
}
