//! Limits on computed results, checked before a result is built.

use ports::block::BlockError;

/// Limit on a computed text, in bytes.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;
/// Limit on a computed list, in items.
const MAX_ITEMS: usize = 1_000_000;

/// Rejects a text that would be too long.
pub(crate) fn text_fits(bytes: usize) -> Result<(), BlockError> {
    if bytes <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let limit = MAX_TEXT_BYTES / 1024 / 1024;
    Err(BlockError::failed(format!("The result would exceed the limit of {limit} MiB.")))
}

/// Rejects a list that would be too long.
pub(crate) fn list_fits(items: usize) -> Result<(), BlockError> {
    if items <= MAX_ITEMS {
        return Ok(());
    }
    Err(BlockError::failed(format!("The result would exceed the limit of {MAX_ITEMS} items.")))
}
