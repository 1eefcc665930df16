//! Which tool a turn waits for, from the calls of its last step and those that have an answer.

use protocol::limits::{FOLLOW_UPS, OPERATIONS, STEP_CALLS};
use protocol::message::ToolCall;

/// The last rows of a session among which the calls of a step are that has not ended: after them come no more than their
/// results, follow-ups, and what operations of the session have brought. Without a bound, a turn that has called nothing
/// would cost a walk through all that was ever said in its session.
pub(crate) const LAST_ROWS: u32 = STEP_CALLS as u32 + FOLLOW_UPS + OPERATIONS;

/// The first call without an answer. Calls that cannot be read name no tool.
pub(crate) fn tool(calls: Option<&str>, answered: &[String]) -> Option<String> {
    let calls: Vec<ToolCall> = serde_json::from_str(calls?).ok()?;
    let mut open = calls.into_iter().filter(|call| !answered.contains(&call.id.0));
    open.next().map(|call| call.name)
}
