//! Items that are still open in a part of the history: ids that the model needs later, and unanswered questions. They
//! are kept verbatim through a compaction, independent of the summary.

use std::collections::BTreeMap;

use ports::store::TurnProgress;
use protocol::SessionId;
use protocol::message::{Message, MessageRole};
use protocol::response::{ResponseBody, SubSessionState, ToolResponse};

/// More than can be open at once.
const MAX_LINES: usize = 100;
/// Result types that can leave something open. Results can be many and long, so only these are parsed.
const KINDS: [&str; 3] = ["operation_pending", "sub_session_status", "clarification_needed"];

/// One line for each open item whose row is at most `through`; later rows remain visible anyway.
pub(crate) fn open_items(progress: &TurnProgress, through: usize) -> Vec<String> {
    let (folded, rest) = progress.messages.split_at(through + 1);
    let mut lines = background_calls(progress, folded);
    lines.extend(operations(folded));
    lines.extend(sub_sessions(folded, rest));
    lines.extend(questions(folded, rest));
    lines.truncate(MAX_LINES);
    lines
}

fn background_calls(progress: &TurnProgress, folded: &[Message]) -> Vec<String> {
    let background = progress.calls.iter().filter_map(|call| {
        let background = call.background.as_ref().filter(|background| !background.taken)?;
        let mut made = folded.iter().flat_map(|row| &row.tool_calls);
        let made = made.find(|made| made.id == call.call_id)?;
        Some(format!(
            "{} of {} continues in the background and ends with that answer; check_background_tool gives its result",
            background.id, made.name
        ))
    });
    background.collect()
}

/// The row of an operation is replaced when the operation ends.
fn operations(folded: &[Message]) -> impl Iterator<Item = String> {
    folded.iter().filter_map(response).filter_map(|body| match body {
        ResponseBody::OperationPending { operation_id, tool_name, .. } => Some(format!(
            "operation {operation_id} of {tool_name} is running; you will be told when it has ended"
        )),
        _ => None,
    })
}

/// The latest status of each sub-session counts.
fn sub_sessions(folded: &[Message], rest: &[Message]) -> Vec<String> {
    let state = |row: &Message| match response(row)? {
        ResponseBody::SubSessionStatus { status, sub_session_id, .. } => {
            Some((sub_session_id, status))
        }
        _ => None,
    };
    let mut newest: BTreeMap<SessionId, SubSessionState> =
        folded.iter().filter_map(state).collect();
    for (told_later, _) in rest.iter().filter_map(state) {
        newest.remove(&told_later);
    }
    newest
        .into_iter()
        .filter(|(_, state)| matches!(state, SubSessionState::Running | SubSessionState::Queued))
        .map(|(id, _)| {
            format!("sub-session {id} is running; get_sub_session_result gives its answer")
        })
        .collect()
}

/// Any later message of the user counts as an answer.
fn questions(folded: &[Message], rest: &[Message]) -> Vec<String> {
    if rest.iter().any(|row| row.role == MessageRole::User) {
        return Vec::new();
    }
    let since = folded.iter().rposition(|row| row.role == MessageRole::User).unwrap_or(0);
    let asked = folded[since..].iter().filter_map(response).filter_map(|body| match body {
        ResponseBody::ClarificationNeeded { questions } => Some(questions),
        _ => None,
    });
    asked
        .flatten()
        .map(|asked| format!("not answered yet ({}): {}", asked.keyword, asked.question))
        .collect()
}

fn response(row: &Message) -> Option<ResponseBody> {
    if row.role != MessageRole::Tool || !KINDS.iter().any(|kind| row.content.contains(kind)) {
        return None;
    }
    serde_json::from_str::<ToolResponse>(&row.content).ok().map(|response| response.body)
}
