//! The prompt of a model call: system instructions and messages.

use ports::block::BlockError;
use ports::model::ModelMessage;
use serde_json::{Value, json};

/// Limit on a prompt, in characters. The model's own limit is lower; this one bounds memory.
const MAX_PROMPT_CHARS: usize = 2_000_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct ModelPrompt {
    pub(crate) system: String,
    pub(crate) messages: Vec<ModelMessage>,
}

impl ModelPrompt {
    pub(crate) fn new(system: impl Into<String>) -> Self {
        Self { system: system.into(), messages: Vec::new() }
    }

    pub(crate) fn user(&mut self, text: impl Into<String>) {
        self.messages.push(ModelMessage::User { text: text.into() });
    }

    pub(crate) fn assistant(&mut self, text: impl Into<String>) {
        let (tool_calls, provider_state) = (Vec::new(), None);
        self.messages.push(ModelMessage::Assistant {
            text: text.into(),
            tool_calls,
            provider_state,
        });
    }

    pub(crate) fn instruct(&mut self, text: &str) {
        if !self.system.is_empty() && !text.is_empty() {
            self.system.push_str("\n\n");
        }
        self.system.push_str(text);
    }

    /// Appends messages in the format blocks exchange: `{role, content}`.
    pub(crate) fn history(&mut self, messages: &[Value]) -> Result<(), BlockError> {
        for message in messages.iter().filter(|message| !message.is_null()) {
            let text = content(&message["content"]);
            match message["role"].as_str() {
                Some("user") => self.user(text),
                Some("assistant") => self.assistant(text),
                Some("system" | "developer") => self.instruct(&text),
                // Tool results are skipped: their calls are not part of this history.
                Some("tool" | "function") => {}
                _ => return Err(BlockError::failed("Each message needs a role and content.")),
            }
        }
        Ok(())
    }

    pub(crate) fn check(&self) -> Result<(), BlockError> {
        let is_question = |message: &ModelMessage| match message {
            ModelMessage::User { text } => !text.trim().is_empty(),
            _ => false,
        };
        if !self.messages.iter().any(is_question) {
            return Err(BlockError::failed("The prompt is empty."));
        }
        if self.chars() > MAX_PROMPT_CHARS {
            return Err(BlockError::failed(format!(
                "The prompt is longer than the limit of {MAX_PROMPT_CHARS} characters."
            )));
        }
        Ok(())
    }

    pub(crate) fn chars(&self) -> usize {
        let length = |message: &ModelMessage| text_of(message).1.chars().count();
        self.system.chars().count() + self.messages.iter().map(length).sum::<usize>()
    }

    /// The messages as JSON, for the `prompt` pin.
    pub(crate) fn to_json(&self) -> Value {
        let system = Some(("system", self.system.as_str())).filter(|(_, text)| !text.is_empty());
        let messages = system.into_iter().chain(self.messages.iter().map(text_of));
        messages.map(|(role, content)| json!({ "role": role, "content": content })).collect()
    }
}

fn text_of(message: &ModelMessage) -> (&'static str, &str) {
    match message {
        ModelMessage::User { text } => ("user", text),
        ModelMessage::Assistant { text, .. } => ("assistant", text),
        ModelMessage::ToolResult { content, .. } => ("tool", content),
    }
}

/// The text of a message's content, which may be a list of parts.
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
    fn a_history_is_parsed_by_role_and_written_as_json() {
        let mut prompt = ModelPrompt::new("Be brief.");
        let history = [
            json!({ "role": "system", "content": "Be kind." }),
            json!({ "role": "user", "content": [{ "type": "text", "text": "Hi" }] }),
            json!({ "role": "assistant", "content": "Hello" }),
        ];
        prompt.history(&history).expect("a history");
        prompt.user("And now?");
        assert_eq!(
            prompt.to_json(),
            json!([
                { "role": "system", "content": "Be brief.\n\nBe kind." },
                { "role": "user", "content": "Hi" },
                { "role": "assistant", "content": "Hello" },
                { "role": "user", "content": "And now?" },
            ])
        );
        assert!(prompt.check().is_ok());
        assert!(prompt.history(&[json!("what?")]).is_err());
        assert!(ModelPrompt::new("only instructions").check().is_err());
    }
}
