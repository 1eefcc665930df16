//! Which tool a turn waits for, from the calls of its last step and those that have an answer.

use protocol::message::ToolCall;

/// The first call without an answer. Calls that cannot be read name no tool.
pub(crate) fn tool(calls: Option<&str>, answered: &[String]) -> Option<String> {
    let calls: Vec<ToolCall> = serde_json::from_str(calls?).ok()?;
    let mut open = calls.into_iter().filter(|call| !answered.contains(&call.id.0));
    open.next().map(|call| call.name)
}
