//! What a model is asked: its instructions and the messages so far.

use ports::block::BlockError;
use ports::model::ModelMessage;
use serde_json::{Map, Value, json};

use crate::template::{self, Escape};

/// Characters of everything that is asked at once. The model's own limit is lower; this one bounds the memory.
const PROMPT_CHARS: usize = 2_000_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Prompt {
    pub(super) system: String,
    pub(super) messages: Vec<ModelMessage>,
}

impl Prompt {
    pub(super) fn new(system: impl Into<String>) -> Self {
        Self { system: system.into(), messages: Vec::new() }
    }

    pub(super) fn user(&mut self, text: impl Into<String>) {
        self.messages.push(ModelMessage::User { text: text.into() });
    }

    pub(super) fn assistant(&mut self, text: impl Into<String>) {
        let (tool_calls, provider_state) = (Vec::new(), None);
        self.messages.push(ModelMessage::Assistant {
            text: text.into(),
            tool_calls,
            provider_state,
        });
    }

    pub(super) fn instruct(&mut self, text: &str) {
        if !self.system.is_empty() && !text.is_empty() {
            self.system.push_str("\n\n");
        }
        self.system.push_str(text);
    }

    /// Messages as they are passed between blocks: `{role, content}`.
    pub(super) fn history(&mut self, messages: &[Value]) -> Result<(), BlockError> {
        for message in messages.iter().filter(|message| !message.is_null()) {
            let text = content(&message["content"]);
            match message["role"].as_str() {
                Some("user") => self.user(text),
                Some("assistant") => self.assistant(text),
                Some("system" | "developer") => self.instruct(&text),
                // What a tool has answered belongs to a call that is not here.
                Some("tool" | "function") => {}
                _ => return Err(BlockError::failed("A message needs a role and a content.")),
            }
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), BlockError> {
        let asks = |message: &ModelMessage| match message {
            ModelMessage::User { text } => !text.trim().is_empty(),
            _ => false,
        };
        if !self.messages.iter().any(asks) {
            return Err(BlockError::failed("There is nothing to ask: the prompt is empty."));
        }
        if self.chars() > PROMPT_CHARS {
            return Err(BlockError::failed(format!(
                "The prompt is longer than {PROMPT_CHARS} characters."
            )));
        }
        Ok(())
    }

    pub(super) fn chars(&self) -> usize {
        let of = |message: &ModelMessage| text_of(message).1.chars().count();
        self.system.chars().count() + self.messages.iter().map(of).sum::<usize>()
    }

    /// For the pin `prompt`: what was asked.
    pub(super) fn shown(&self) -> Value {
        let system = Some(("system", self.system.as_str())).filter(|(_, text)| !text.is_empty());
        let messages = system.into_iter().chain(self.messages.iter().map(text_of));
        messages.map(|(role, content)| json!({ "role": role, "content": content })).collect()
    }
}

/// The text with the values put in, where there are any. Without values braces are just braces.
pub(super) fn filled(text: &str, values: &Map<String, Value>) -> Result<String, BlockError> {
    if values.is_empty() {
        return Ok(text.to_owned());
    }
    template::render(text, values, Escape::Nothing)
        .map_err(|error| BlockError::failed(error.to_string()))
}

fn text_of(message: &ModelMessage) -> (&'static str, &str) {
    match message {
        ModelMessage::User { text } => ("user", text),
        ModelMessage::Assistant { text, .. } => ("assistant", text),
        ModelMessage::ToolResult { content, .. } => ("tool", content),
    }
}

/// The text of a content, which may come in parts.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str().or(part.as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_read_by_roles_and_shown_again() {
        let mut prompt = Prompt::new("Be brief.");
        let history = [
            json!({ "role": "system", "content": "Be kind." }),
            json!({ "role": "user", "content": [{ "type": "text", "text": "Hi" }] }),
            json!({ "role": "assistant", "content": "Hello" }),
        ];
        prompt.history(&history).expect("a history");
        prompt.user("And now?");
        assert_eq!(
            prompt.shown(),
            json!([
                { "role": "system", "content": "Be brief.\n\nBe kind." },
                { "role": "user", "content": "Hi" },
                { "role": "assistant", "content": "Hello" },
                { "role": "user", "content": "And now?" },
            ])
        );
        assert!(prompt.check().is_ok());
        assert!(prompt.history(&[json!("what?")]).is_err());
        assert!(Prompt::new("only instructions").check().is_err());
    }
}
