//! The conversation that an orchestrator passes on from one of its runs to the next: messages with a role and a content,
//! calls as `tool_calls` of the assistant, and their outputs as messages of the role `tool`.

use std::collections::HashMap;

use ports::block::BlockError;
use ports::model::ModelMessage;
use protocol::CallId;
use protocol::message::ToolCall;
use serde_json::{Value, json};

use super::super::model::Answer;
use super::super::prompt::Prompt;
use crate::values::into_text;

pub(super) struct Conversation(Vec<Value>);

impl Conversation {
    pub(super) fn new(history: Vec<Value>) -> Self {
        Self(history.into_iter().filter(|message| !message.is_null()).collect())
    }

    /// The calls that no output has answered yet, the oldest first. Some providers use an id again, so that the order
    /// matters.
    pub(super) fn open_calls(&self) -> Vec<ToolCall> {
        let mut open: Vec<ToolCall> = Vec::new();
        for message in &self.0 {
            let is_answered = |call: &ToolCall| message["tool_call_id"] == call.id.as_str();
            if let Some(place) = open.iter().position(is_answered) {
                open.remove(place);
            }
            open.extend(calls(message));
        }
        open
    }

    pub(super) fn answer(&mut self, call: &CallId, output: Value) {
        let content = into_text(output);
        self.0.push(json!({ "role": "tool", "tool_call_id": call, "content": content }));
    }

    pub(super) fn user(&mut self, text: &str) {
        self.0.push(json!({ "role": "user", "content": text }));
    }

    pub(super) fn has_user(&self, text: &str) -> bool {
        self.0.iter().any(|message| message["role"] == "user" && message["content"] == text)
    }

    pub(super) fn decided(&mut self, answer: &Answer) {
        let call = |call: &ToolCall| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        };
        let calls: Vec<Value> = answer.calls.iter().map(call).collect();
        self.0.push(json!({ "role": "assistant", "content": answer.text, "tool_calls": calls }));
    }

    pub(super) fn into_value(self) -> Value {
        Value::Array(self.0)
    }

    /// Adds the conversation to what the model is asked.
    pub(super) fn tell(&self, prompt: &mut Prompt) -> Result<(), BlockError> {
        let mut names = HashMap::new();
        for message in &self.0 {
            let tool_calls: Vec<ToolCall> = calls(message).collect();
            if let Some(answered) = message["tool_call_id"].as_str() {
                let Some(name) = names.remove(answered) else {
                    let why = format!(
                        "The conversation answers the call {answered} that it does not have."
                    );
                    return Err(BlockError::failed(why));
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

/// The calls of one message.
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
    fn a_call_is_open_until_an_output_after_it_answers_it() {
        for (history, open) in [
            (vec![], 0),
            (vec![called("a")], 1),
            (vec![called("a"), answered("a")], 0),
            (vec![called("a"), answered("a"), called("a")], 1),
            (vec![called("a"), called("b"), answered("b"), Value::Null], 1),
        ] {
            assert_eq!(Conversation::new(history.clone()).open_calls().len(), open, "{history:?}");
        }
    }

    #[test]
    fn an_output_of_no_call_is_refused() {
        let mut prompt = Prompt::default();
        assert!(Conversation::new(vec![answered("a")]).tell(&mut prompt).is_err());
        Conversation::new(vec![called("a"), answered("a")]).tell(&mut prompt).expect("a call");
        assert_eq!(prompt.messages.len(), 2);
    }
}
