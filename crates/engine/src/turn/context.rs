//! What the model is given: a text that is the same for everybody (so that providers can cache it) and
//! the conversation, rebuilt from stored rows.

use std::sync::Arc;

use ports::model::{ModelMessage, ModelRequest, ToolDefinition, ToolUse};
use ports::store::Progress;
use protocol::TurnId;
use protocol::message::{Message, Outcome, Role};
use protocol::turn::TurnRequest;
use serde_json::Value;

const SYSTEM_PROMPT: &str = include_str!("system_prompt.md");
/// Said on the last step, which has to end in words.
const WRAP_UP: &str = "[This is the last step: no tool can be called any more. Sum up what was found and what is left to do.]";

pub(crate) fn request(
    progress: &Progress,
    turn: &TurnId,
    asked: &TurnRequest,
    tools: Arc<[ToolDefinition]>,
    tool_use: ToolUse,
) -> ModelRequest {
    let mut messages: Vec<ModelMessage> =
        progress.messages.iter().filter_map(|row| message(row, turn)).collect();
    if tool_use == ToolUse::Forbidden {
        messages.push(ModelMessage::User { text: WRAP_UP.to_owned() });
    }
    ModelRequest {
        system: SYSTEM_PROMPT.to_owned(),
        messages,
        tools,
        tool_use,
        tier: asked.tier,
        mode: asked.mode,
    }
}

fn message(row: &Message, turn: &TurnId) -> Option<ModelMessage> {
    match row.role {
        Role::User => Some(ModelMessage::User { text: user_text(row) }),
        Role::Assistant if row.content.is_empty() && row.tool_calls.is_empty() => None,
        Role::Assistant => Some(ModelMessage::Assistant {
            text: row.content.clone(),
            tool_calls: row.tool_calls.clone(),
            // Only the turn at work needs its signatures back; older ones would only be paid for.
            provider_state: row.provider_state.clone().filter(|_| row.turn_id == *turn),
        }),
        Role::Tool => Some(ModelMessage::ToolResult {
            call_id: row.tool_call_id.clone()?,
            name: row.name.clone().unwrap_or_default(),
            content: row.content.clone(),
            is_error: row.outcome != Some(Outcome::Ok),
        }),
        Role::System => None,
    }
}

/// The words as typed, then what the client said about the place they were typed in and what is attached.
fn user_text(row: &Message) -> String {
    let mut text = row.content.clone();
    let metadata = row.metadata.as_ref();
    if let Some(Value::Object(context)) = metadata.and_then(|m| m.get("context")) {
        text.push_str("\n\n[Context of the page]");
        for (key, value) in context {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.push_str(&format!("\n{key}: {value}"));
        }
    }
    if let Some(Value::Array(files)) = metadata.and_then(|m| m.get("files")) {
        text.push_str("\n\n[Attached files]");
        for file in files {
            let field = |name: &str| file.get(name).map(Value::to_string).unwrap_or_default();
            text.push_str(&format!(
                "\n- {} ({}, {} bytes), file_id {}",
                field("path"),
                field("mime_type"),
                field("size_bytes"),
                field("file_id")
            ));
        }
    }
    text
}
