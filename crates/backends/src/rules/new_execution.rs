//! What decides about a new execution.

use ports::store::ExecutionCreated;
use protocol::UserId;
use protocol::execution::{Execution, ExecutionRequest, ExecutionStats};
use protocol::limits::EXECUTION_DEPTH;

use super::error::CheckError;

/// The reply to a repeated request.
pub(crate) fn existing(
    execution: Execution,
    user: &UserId,
) -> Result<ExecutionCreated, CheckError> {
    if execution.user_id != *user {
        return Err(CheckError::new("the id belongs to another user's execution"));
    }
    Ok(ExecutionCreated::Exists(Box::new(execution)))
}

/// The depth below a parent, or why it may not start an execution. `parent` is its depth, or `None` when it has ended,
/// is being stopped, or does not exist.
pub(crate) fn depth_below(parent: Option<u32>) -> Result<u32, ExecutionCreated> {
    match parent {
        None => Err(ExecutionCreated::ParentEnded),
        Some(depth) if depth >= EXECUTION_DEPTH => Err(ExecutionCreated::TooDeep),
        Some(depth) => Ok(depth + 1),
    }
}

pub(crate) fn first_stats(request: &ExecutionRequest) -> ExecutionStats {
    ExecutionStats { is_dry_run: request.dry_run, ..ExecutionStats::default() }
}
