//! Rows of the message history.

use ports::store::MessagePage;
use protocol::message::{Message, NewMessage, ToolCall};
use protocol::turn::TurnClaim;
use protocol::{SessionId, TurnId};
use serde_json::Value;

use super::StoreRow;
use crate::rules::error::CheckError;
use crate::rules::json::to_json;

/// Columns of a `Message`; the table `message` has the alias `m`.
macro_rules! message_columns {
    () => {
        "m.session_id, m.sequence, m.id, m.turn_id, m.created_at, m.role, m.content, m.reasoning, \
         m.tool_calls, m.tool_call_id, m.name, m.outcome, m.model, m.duration_ms, m.metadata, \
         m.provider_state"
    };
}

pub(crate) use message_columns;

pub(crate) fn message<R: StoreRow>(row: &R) -> Result<Message, R::Error> {
    Ok(Message {
        id: row.id("id")?,
        session_id: row.id("session_id")?,
        turn_id: row.id("turn_id")?,
        sequence: row.integer("sequence")?,
        created_at: row.time("created_at")?,
        role: row.word("role")?,
        content: row.text("content")?,
        reasoning: row.optional_text("reasoning")?,
        tool_calls: row.optional_str("tool_calls")?.map(tool_calls).unwrap_or_default(),
        tool_call_id: row.optional_id("tool_call_id")?,
        name: row.optional_text("name")?,
        outcome: row.optional_word("outcome")?,
        model: row.optional_text("model")?,
        duration_ms: row.optional_number("duration_ms")?,
        metadata: row.optional_json("metadata")?,
        provider_state: row.optional_json("provider_state")?,
    })
}

/// The calls of a row. Rows of other programs may have the shape of the OpenAI API (`function.name`) instead of ours
/// (`name`). A call that cannot be read is left out: one damaged row must not make a session unusable.
fn tool_calls(stored: &str) -> Vec<ToolCall> {
    let calls: Vec<Value> = serde_json::from_str(stored).unwrap_or_else(|error| {
        tracing::warn!(%error, "the tool calls of a stored message cannot be read");
        Vec::new()
    });
    let call = |stored: &Value| {
        let call = tool_call(stored);
        if call.is_none() {
            tracing::warn!("a tool call of a stored message cannot be read");
        }
        call
    };
    calls.iter().filter_map(call).collect()
}

fn tool_call(stored: &Value) -> Option<ToolCall> {
    let function = stored.get("function").filter(|function| function.is_object());
    let of = function.unwrap_or(stored);
    let arguments = match of.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(arguments) => arguments.to_string(),
    };
    Some(ToolCall {
        id: stored.get("id")?.as_str()?.into(),
        name: of.get("name")?.as_str()?.to_owned(),
        arguments,
    })
}

/// Session, turn, ordinal and time of a new row.
#[derive(Clone, Copy)]
pub(crate) struct MessagePosition<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) turn: &'a TurnId,
    pub(crate) ordinal: i64,
    pub(crate) wall_us: i64,
}

impl<'a> MessagePosition<'a> {
    /// For a message of a running turn.
    pub(crate) fn of_claim(claim: &'a TurnClaim, ordinal: i64, wall_us: i64) -> Self {
        Self { session: &claim.session_id, turn: &claim.turn_id, ordinal, wall_us }
    }
}

/// A page of messages that were read backwards.
pub(crate) fn page_of(mut newest_first: Vec<Message>, has_more: bool) -> MessagePage {
    newest_first.reverse();
    let oldest_sequence = newest_first.first().map(|message| message.sequence);
    MessagePage { messages: newest_first, has_more, oldest_sequence }
}

/// The columns of a new message that hold JSON.
pub(crate) struct MessageJson {
    pub(crate) tool_calls: Option<String>,
    pub(crate) metadata: Option<String>,
    pub(crate) provider_state: Option<String>,
}

impl MessageJson {
    pub(crate) fn of(message: &NewMessage) -> Result<Self, CheckError> {
        Ok(Self {
            tool_calls: match message.tool_calls.as_slice() {
                [] => None,
                calls => Some(to_json(&calls)?),
            },
            metadata: message.metadata.as_ref().map(ToString::to_string),
            provider_state: message.provider_state.as_ref().map(ToString::to_string),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_in_both_shapes_and_damaged_ones_are_left_out() {
        let ours = r#"{"id": "a", "name": "read", "arguments": "{}"}"#;
        let others =
            r#"{"id": "b", "type": "function", "function": {"name": "write", "arguments": "{}"}}"#;
        for (stored, names) in [
            (format!("[{ours}]"), vec!["read"]),
            (format!("[{ours}, {others}]"), vec!["read", "write"]),
            (
                format!(
                    r#"[5, null, {{}}, {{"id": "c"}}, {{"id": "d", "function": {{}}}}, {ours}]"#
                ),
                vec!["read"],
            ),
            ("{".to_owned(), vec![]),
            (ours.to_owned(), vec![]),
            (String::new(), vec![]),
        ] {
            let calls = tool_calls(&stored);
            let read: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
            assert_eq!(read, names, "{stored}");
        }
        let object = r#"[{"id": "e", "name": "read", "arguments": {"a": 1}}]"#;
        assert_eq!(tool_calls(object)[0].arguments, r#"{"a":1}"#);
    }
}
