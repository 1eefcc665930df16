//! The model request: a system prompt that is the same for everyone (so that providers can cache it) and the
//! conversation, rebuilt from stored rows. Until a compaction, each request of a session extends the previous one.

mod history_rows;
mod operation_ended;
mod session_facts;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use ports::model::{ModelMessage, ModelRequest, ToolDefinition, ToolUse};
use ports::store::TurnProgress;
use protocol::message::MessageRole;
use protocol::permissions::Permissions;
use protocol::turn::Turn;

pub(crate) use self::history_rows::{SentRow, sent_rows, user_message};
use super::compaction::StoredCompaction;
use super::tool_list::ToolList;

const SYSTEM_PROMPT: &str = include_str!("../system_prompt.md");
/// Sent on the last step, which must end in text.
const WRAP_UP: &str = "[This is the last step: no tool can be called any more. Sum up what was found and what is left to do.]";

/// The tools, divided by the permissions of the turn.
#[derive(Clone)]
pub(crate) struct ToolSelection {
    pub(crate) allowed: Arc<[ToolDefinition]>,
    pub(crate) denied: Vec<String>,
}

impl ToolSelection {
    pub(crate) fn new(tools: &ToolList, permissions: &Permissions) -> Self {
        let all = tools.definitions(&Permissions::default());
        let allowed = tools.definitions(permissions);
        let is_allowed = |tool: &&ToolDefinition| allowed.iter().any(|one| one.name == tool.name);
        let denied = all.iter().filter(|tool| !is_allowed(tool)).map(|tool| tool.name.clone());
        Self { denied: denied.collect(), allowed }
    }
}

/// `window` is the model's window in tokens: the results of one step are cut to their share of it.
pub(crate) fn request(
    progress: &TurnProgress,
    turn: &Turn,
    tools: ToolSelection,
    tool_use: ToolUse,
    window: u64,
) -> ModelRequest {
    let mut messages = conversation(progress, turn, &tools.denied, window);
    if tool_use == ToolUse::Forbidden {
        messages.push(ModelMessage::User { text: WRAP_UP.to_owned() });
    }
    ModelRequest {
        system: SYSTEM_PROMPT.to_owned(),
        messages,
        tools: tools.allowed,
        tool_use,
        tier: turn.request.tier,
        mode: turn.request.mode,
    }
}

/// The first message, the summary of a compaction with the requests it kept, and the rows after it.
fn conversation(
    progress: &TurnProgress,
    turn: &Turn,
    denied: &[String],
    window: u64,
) -> Vec<ModelMessage> {
    let rows = &progress.messages;
    let fold = StoredCompaction::newest(rows);
    let start = fold.as_ref().map_or(0, |fold| fold.through + 1);
    let first = rows.iter().position(|row| row.role == MessageRole::User);
    let mut messages = Vec::with_capacity(rows.len() - start + 3);
    if let Some(first) = first {
        // A separate message, so that the user's message stays unchanged.
        messages.push(session_facts::session(&progress.session, &rows[first], denied));
        if first < start {
            messages.push(history_rows::user_message(&rows[first], window));
        }
    }
    if let Some(fold) = &fold {
        messages.push(fold.summary());
        messages.extend(fold.kept(rows).map(|row| history_rows::user_message(row, window)));
    }
    let mut ended = progress.operation.as_ref().and_then(operation_ended::message);
    for SentRow { row, message } in sent_rows(rows, start, &turn.id, window) {
        // The notice comes before the rows of this turn, in every step of it.
        if rows[row].turn_id == turn.id {
            messages.extend(ended.take());
        }
        messages.push(message);
    }
    messages.extend(ended);
    messages
}
