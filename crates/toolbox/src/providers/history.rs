//! Normalizes a history so that every provider accepts it: no empty messages, and no two user messages in a row.

use ports::model::ModelMessage;
use serde_json::{Map, Value};

/// Replaces an empty tool result, which some servers refuse.
pub(crate) const NO_OUTPUT: &str = "(no output)";

/// Joins consecutive messages of one role, and drops empty ones.
pub(crate) fn normalize(messages: &[ModelMessage]) -> Vec<ModelMessage> {
    let mut normalized: Vec<ModelMessage> = Vec::with_capacity(messages.len());
    for message in messages {
        match (normalized.last_mut(), message) {
            (_, ModelMessage::User { text }) if text.trim().is_empty() => {}
            (_, ModelMessage::Assistant { text, tool_calls, .. })
                if text.trim().is_empty() && tool_calls.is_empty() => {}
            (Some(ModelMessage::User { text }), ModelMessage::User { text: more }) => {
                join(text, more);
            }
            (
                Some(ModelMessage::Assistant { text, tool_calls, provider_state }),
                ModelMessage::Assistant {
                    text: more,
                    tool_calls: more_calls,
                    provider_state: more_state,
                },
            ) if tool_calls.is_empty() => {
                join(text, more);
                tool_calls.clone_from(more_calls);
                if more_state.is_some() {
                    provider_state.clone_from(more_state);
                }
            }
            (_, message) => normalized.push(message.clone()),
        }
    }
    normalized
}

fn join(text: &mut String, more: &str) {
    if !text.trim().is_empty() && !more.trim().is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// The arguments of an earlier call as an object; empty if the model wrote something else, which servers refuse in a
/// history. The result that follows tells the model what was wrong.
pub(crate) fn arguments_object(arguments: &str) -> Map<String, Value> {
    serde_json::from_str(arguments).unwrap_or_default()
}

pub(crate) fn result_text(content: &str) -> &str {
    if content.trim().is_empty() { NO_OUTPUT } else { content }
}

#[cfg(test)]
mod tests {
    use protocol::message::ToolCall;

    use super::*;

    fn user(text: &str) -> ModelMessage {
        ModelMessage::User { text: text.into() }
    }

    fn assistant(text: &str, calls: &[&str]) -> ModelMessage {
        let call =
            |id: &&str| ToolCall { id: (*id).into(), name: "t".into(), arguments: "{}".into() };
        ModelMessage::Assistant {
            text: text.into(),
            tool_calls: calls.iter().map(call).collect(),
            provider_state: None,
        }
    }

    #[test]
    fn empty_messages_are_dropped_and_neighbors_of_one_role_join() {
        let history = [
            user("a"),
            assistant(" ", &[]),
            user("b"),
            assistant("c", &[]),
            assistant("", &["1"]),
            user(""),
        ];
        assert_eq!(normalize(&history), [user("a\n\nb"), assistant("c", &["1"])]);
        let calls = [user("a"), assistant("", &["1"]), assistant("x", &[])];
        assert_eq!(normalize(&calls), calls, "a call is not joined to what follows it");
    }

    #[test]
    fn arguments_that_are_not_an_object_become_an_empty_one() {
        for arguments in ["", "[1]", "{\"a\":", "null", "\"x\""] {
            assert!(arguments_object(arguments).is_empty(), "{arguments}");
        }
        assert_eq!(arguments_object("{\"a\":1}")["a"], 1);
    }
}
