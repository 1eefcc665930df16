//! Builds the body of a chat completion request.

use ports::model::{ModelMessage, ModelRequest, ToolUse};
use serde_json::{Value, json};
use url::Url;

use crate::providers::history;

/// Field name of the output token limit. OpenAI refuses `max_tokens` for its newer models; most other servers know only
/// `max_tokens`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitName {
    MaxTokens,
    MaxCompletionTokens,
}

impl LimitName {
    pub(crate) fn of(endpoint: &Url) -> Self {
        match endpoint.host_str() {
            Some("api.openai.com") => Self::MaxCompletionTokens,
            _ => Self::MaxTokens,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

pub(crate) fn body(model: &str, limit: Option<(LimitName, u32)>, request: &ModelRequest) -> Value {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.trim().is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    messages.extend(history::normalize(&request.messages).iter().map(message));
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some((name, tokens)) = limit {
        body[name.as_str()] = json!(tokens);
    }
    // Some servers refuse an empty list.
    if !request.tools.is_empty() {
        let tool = |tool: &ports::model::ToolDefinition| {
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            }})
        };
        body["tools"] = request.tools.iter().map(tool).collect();
        if request.tool_use == ToolUse::Forbidden {
            body["tool_choice"] = json!("none");
        }
    }
    body
}

fn message(message: &ModelMessage) -> Value {
    match message {
        ModelMessage::User { text } => json!({"role": "user", "content": text}),
        ModelMessage::Assistant { text, tool_calls, .. } => {
            let content = if text.trim().is_empty() { Value::Null } else { json!(text) };
            let mut message = json!({"role": "assistant", "content": content});
            if !tool_calls.is_empty() {
                message["tool_calls"] = tool_calls.iter().map(call).collect();
            }
            message
        }
        ModelMessage::ToolResult { call_id, content, .. } => json!({
            "role": "tool",
            "tool_call_id": call_id,
            "content": history::result_text(content),
        }),
    }
}

fn call(call: &protocol::message::ToolCall) -> Value {
    let arguments = Value::Object(history::arguments_object(&call.arguments)).to_string();
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    })
}
