//! What decides about a new operation.

use ports::store::NewOperation;

use super::error::CheckError;

/// The result finds the pending message by its call id.
pub(crate) fn check_pending(new: &NewOperation) -> Result<(), CheckError> {
    if new.pending.tool_call_id.as_ref() == Some(&new.call.id) {
        return Ok(());
    }
    Err(CheckError::new("the pending row of an operation belongs to another call"))
}
