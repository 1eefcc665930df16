//! The user on whose behalf a tool is called.

use ports::tool::{ToolContext, ToolError};
use protocol::UserId;

/// The engine already refuses calls by anonymous users to tools with `requires_auth`; this repeats the check where a
/// user id is needed.
pub(crate) fn signed_in_user(context: &ToolContext) -> Result<UserId, ToolError> {
    let sentence = "Sign in to use this tool.";
    context.owner.user().cloned().ok_or_else(|| ToolError::tell("need_login", sentence))
}
