//! The conversation that an orchestrator passes from one run to the next: messages with `role` and `content`, calls as
//! `tool_calls` of the assistant, and their outputs as messages with the role `tool`.

use std::collections::HashMap;

use ports::block::BlockError;
use ports::model::ModelMessage;
use protocol::CallId;
use protocol::message::ToolCall;
use serde_json::{Value, json};

use crate::blocks::ai::model::ModelReply;
use crate::blocks::ai::prompt::ModelPrompt;
use crate::values::into_text;

pub(crate) struct ToolConversation(Vec<Value>);

impl ToolConversation {
    pub(crate) fn new(history: Vec<Value>) -> Self {
        Self(history.into_iter().filter(|message| !message.is_null()).collect())
    }

    /// The calls without an output yet, oldest first. Some providers reuse ids, so order matters.
    pub(crate) fn open_calls(&self) -> Vec<ToolCall> {
        let mut open: Vec<ToolCall> = Vec::new();
        for message in &self.0 {
            let is_answered = |call: &ToolCall| message["tool_call_id"] == call.id.as_str();
            if let Some(index) = open.iter().position(is_answered) {
                open.remove(index);
            }
            open.extend(calls(message));
        }
        open
    }

    pub(crate) fn add_output(&mut self, call: &CallId, output: Value) {
        let content = into_text(output);
        self.0.push(json!({ "role": "tool", "tool_call_id": call, "content": content }));
    }

    pub(crate) fn add_user(&mut self, text: &str) {
        self.0.push(json!({ "role": "user", "content": text }));
    }

    pub(crate) fn has_user_message(&self, text: &str) -> bool {
        self.0.iter().any(|message| message["role"] == "user" && message["content"] == text)
    }

    pub(crate) fn add_reply(&mut self, reply: &ModelReply) {
        let call = |call: &ToolCall| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        };
        let calls: Vec<Value> = reply.calls.iter().map(call).collect();
        self.0.push(json!({ "role": "assistant", "content": reply.text, "tool_calls": calls }));
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Array(self.0)
    }

    /// Appends the conversation to the prompt.
    pub(crate) fn append_to(&self, prompt: &mut ModelPrompt) -> Result<(), BlockError> {
        let mut names = HashMap::new();
        for message in &self.0 {
            let tool_calls: Vec<ToolCall> = calls(message).collect();
            if let Some(answered) = message["tool_call_id"].as_str() {
                let Some(name) = names.remove(answered) else {
                    return Err(BlockError::failed(format!(
                        "The conversation has an output for the unknown call {answered}."
                    )));
                };
                let content = into_text(message["content"].clone());
                let call_id = answered.into();
                let result = ModelMessage::ToolResult { call_id, name, content, is_error: false };
                prompt.messages.push(result);
            } else if tool_calls.is_empty() {
                prompt.history(std::slice::from_ref(message))?;
            } else {
                let called = tool_calls.iter().map(|call| (call.id.0.clone(), call.name.clone()));
                names.extend(called);
                let text = message["content"].as_str().unwrap_or_default().to_owned();
                let provider_state = None;
                prompt.messages.push(ModelMessage::Assistant { text, tool_calls, provider_state });
            }
        }
        Ok(())
    }
}

/// The tool calls of one message.
fn calls(message: &Value) -> impl Iterator<Item = ToolCall> {
    let read = |call: &Value| {
        let function = &call["function"];
        Some(ToolCall {
            id: call["id"].as_str()?.into(),
            name: function["name"].as_str()?.to_owned(),
            arguments: function["arguments"].as_str()?.to_owned(),
        })
    };
    message["tool_calls"].as_array().into_iter().flatten().filter_map(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(id: &str) -> Value {
        let function = json!({ "name": "find", "arguments": "{}" });
        let call = json!({ "id": id, "type": "function", "function": function });
        json!({ "role": "assistant", "content": null, "tool_calls": [call] })
    }

    fn answered(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "x" })
    }

    #[test]
    fn a_call_is_open_until_a_later_output_answers_it() {
        for (history, open) in [
            (vec![], 0),
            (vec![called("a")], 1),
            (vec![called("a"), answered("a")], 0),
            (vec![called("a"), answered("a"), called("a")], 1),
            (vec![called("a"), called("b"), answered("b"), Value::Null], 1),
        ] {
            assert_eq!(
                ToolConversation::new(history.clone()).open_calls().len(),
                open,
                "{history:?}"
            );
        }
    }

    #[test]
    fn an_output_without_a_call_is_rejected() {
        let mut prompt = ModelPrompt::default();
        assert!(ToolConversation::new(vec![answered("a")]).append_to(&mut prompt).is_err());
        ToolConversation::new(vec![called("a"), answered("a")])
            .append_to(&mut prompt)
            .expect("a call");
        assert_eq!(prompt.messages.len(), 2);
    }
}
