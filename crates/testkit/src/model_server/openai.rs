//! A scripted response as chat completion chunks.

use ports::model::StopReason;
use serde_json::{Value, json};

use super::script::{ScriptedCall, ScriptedUsage};
use super::wire::{ResponseWriter, split};

pub(crate) struct OpenAiWriter {
    model: String,
    calls_made: usize,
}

impl OpenAiWriter {
    pub(crate) fn new(model: &str) -> Self {
        Self { model: model.to_owned(), calls_made: 0 }
    }

    fn chunk(&self, delta: Value, finish_reason: Value) -> String {
        data(&json!({
            "id": "chatcmpl-scripted",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }))
    }

    fn delta(&self, delta: Value) -> String {
        self.chunk(delta, Value::Null)
    }
}

impl ResponseWriter for OpenAiWriter {
    fn begin(&mut self, _: ScriptedUsage) -> Vec<String> {
        vec![self.delta(json!({"role": "assistant", "content": ""}))]
    }

    fn text(&mut self, piece: &str) -> Vec<String> {
        vec![self.delta(json!({"content": piece}))]
    }

    fn reasoning(&mut self, piece: &str) -> Vec<String> {
        vec![self.delta(json!({"reasoning_content": piece}))]
    }

    /// The calls grow side by side, as parallel calls may.
    fn calls(&mut self, calls: &[ScriptedCall], pieces: usize) -> Vec<String> {
        let first = self.calls_made;
        self.calls_made += calls.len();
        let mut events = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            events.push(self.delta(json!({"tool_calls": [{
                "index": first + at,
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": ""},
            }]})));
        }
        let mut growing: Vec<_> = calls.iter().map(|call| split(&call.arguments, pieces)).collect();
        for _ in 0..pieces {
            for (at, parts) in growing.iter_mut().enumerate() {
                if let Some(part) = parts.next() {
                    events.push(self.delta(json!({"tool_calls": [{
                        "index": first + at,
                        "function": {"arguments": part},
                    }]})));
                }
            }
        }
        events
    }

    fn finish(&mut self, reason: StopReason, usage: ScriptedUsage) -> Vec<String> {
        let reason = match reason {
            StopReason::Stop => "stop",
            StopReason::ToolCalls => "tool_calls",
            StopReason::Length => "length",
            StopReason::ContentFilter => "content_filter",
            StopReason::Other => "something_else",
        };
        let usage = json!({
            "id": "chatcmpl-scripted",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.model,
            "choices": [],
            "usage": {
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "total_tokens": usage.prompt_tokens + usage.completion_tokens,
                "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
            },
        });
        vec![self.chunk(json!({}), json!(reason)), data(&usage), "data: [DONE]\n\n".into()]
    }

    fn error(&mut self, kind: &str, message: &str) -> String {
        data(&error_body(kind, message))
    }
}

pub(crate) fn error_body(kind: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}
