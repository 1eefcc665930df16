//! Finds the tool a turn waits for, from the calls of its last step and those with a result.

use protocol::limits::{FOLLOW_UPS, OPERATIONS, STEP_CALLS};
use protocol::message::ToolCall;

/// Number of last messages of a session that include the calls of an unfinished step: only their results, follow-ups
/// and results of operations can come after them. Without a bound, a turn without calls would cost a scan of the
/// session's whole history.
pub(crate) const LAST_ROWS: u32 = STEP_CALLS as u32 + FOLLOW_UPS + OPERATIONS;

/// The first call without a result. `None` when the calls cannot be read.
pub(crate) fn open_tool(calls: Option<&str>, answered: &[String]) -> Option<String> {
    let calls: Vec<ToolCall> = serde_json::from_str(calls?).ok()?;
    let mut open = calls.into_iter().filter(|call| !answered.contains(&call.id.0));
    open.next().map(|call| call.name)
}
