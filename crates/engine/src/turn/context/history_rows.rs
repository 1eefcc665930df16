//! History rows as sent to the model.

use std::collections::HashSet;

use ports::model::ModelMessage;
use protocol::message::{Message, MessageRole, ToolOutcome};
use protocol::{CallId, TurnId};
use serde_json::Value;

use crate::turn::compaction::measure::{cut_to, fair_share, step_bytes};

/// A row that is sent to the model.
pub(crate) struct SentRow {
    /// Its index in the history.
    pub(crate) row: usize,
    pub(crate) message: ModelMessage,
}

/// The rows from `start` on, without those that are only for the user. The history keeps every result whole; here the
/// results of one step share the part of the window that one step may take.
pub(crate) fn sent_rows(
    rows: &[Message],
    start: usize,
    turn: &TurnId,
    window: u64,
) -> Vec<SentRow> {
    let calls = rows[start..].iter().flat_map(|row| &row.tool_calls);
    let calls: HashSet<&CallId> = calls.map(|call| &call.id).collect();
    // Models refuse a result without its call, which a damaged row may have lost.
    let is_answer =
        |row: &Message| row.tool_call_id.as_ref().is_none_or(|call| calls.contains(call));
    let mut sent: Vec<SentRow> = rows[start..]
        .iter()
        .enumerate()
        .filter(|(_, row)| is_answer(row))
        .filter_map(|(at, row)| {
            Some(SentRow { row: start + at, message: message(row, turn, window)? })
        })
        .collect();
    let is_result = |sent: &SentRow| matches!(sent.message, ModelMessage::ToolResult { .. });
    for step in sent.chunk_by_mut(|a, b| is_result(a) && is_result(b)) {
        cut_results(step, step_bytes(window));
    }
    sent
}

pub(crate) fn user_message(row: &Message, window: u64) -> ModelMessage {
    ModelMessage::User { text: user_text(row, window) }
}

fn message(row: &Message, turn: &TurnId, window: u64) -> Option<ModelMessage> {
    match row.role {
        MessageRole::User => Some(user_message(row, window)),
        MessageRole::Assistant if row.content.is_empty() && row.tool_calls.is_empty() => None,
        MessageRole::Assistant => Some(ModelMessage::Assistant {
            text: row.content.clone(),
            tool_calls: row.tool_calls.clone(),
            // Only the running turn needs its signatures back; older ones would only cost tokens.
            provider_state: row.provider_state.clone().filter(|_| row.turn_id == *turn),
        }),
        MessageRole::Tool => Some(ModelMessage::ToolResult {
            call_id: row.tool_call_id.clone()?,
            name: row.name.clone().unwrap_or_default(),
            content: row.content.clone(),
            is_error: row.outcome != Some(ToolOutcome::Ok),
        }),
        MessageRole::System => None,
    }
}

fn cut_results(step: &mut [SentRow], bytes: usize) {
    let contents = step.iter_mut().filter_map(|sent| match &mut sent.message {
        ModelMessage::ToolResult { content, .. } => Some(content),
        _ => None,
    });
    let contents: Vec<&mut String> = contents.collect();
    let share = fair_share(contents.iter().map(|content| content.len()), bytes);
    for content in contents {
        if content.len() > share {
            *content = cut_to(content, share);
        }
    }
}

/// The text as typed, then the page context from the client and the attached files.
fn user_text(row: &Message, window: u64) -> String {
    let mut text = row.content.clone();
    let metadata = row.metadata.as_ref();
    if let Some(Value::Object(context)) = metadata.and_then(|m| m.get("context")) {
        text.push_str("\n\n[Context of the page]");
        for (key, value) in context {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.push_str(&format!("\n{key}: {}", cut_to(&value, step_bytes(window))));
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
