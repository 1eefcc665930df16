//! A scripted response as messages API events.

use ports::model::StopReason;
use serde_json::{Value, json};

use super::script::{ScriptedCall, ScriptedUsage};
use super::wire::{ResponseWriter, split};

/// The signature of scripted reasoning; the validator expects it back unchanged.
pub(crate) const SIGNATURE: &str = "scripted-signature";

pub(crate) struct AnthropicWriter {
    model: String,
    blocks: usize,
    open: Option<OpenBlock>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBlock {
    Text,
    Thinking,
    Call,
}

impl AnthropicWriter {
    pub(crate) fn new(model: &str) -> Self {
        Self { model: model.to_owned(), blocks: 0, open: None }
    }

    /// Opens a block of this kind unless one is open.
    fn within(&mut self, block: OpenBlock, start: Value) -> Vec<String> {
        if self.open == Some(block) && block != OpenBlock::Call {
            return Vec::new();
        }
        let mut events = self.close();
        let index = self.blocks;
        self.blocks += 1;
        self.open = Some(block);
        events.push(event("content_block_start", json!({"index": index, "content_block": start})));
        events
    }

    fn delta(&self, delta: Value) -> String {
        event("content_block_delta", json!({"index": self.blocks - 1, "delta": delta}))
    }

    fn close(&mut self) -> Vec<String> {
        let mut events = Vec::new();
        let Some(block) = self.open.take() else { return events };
        if block == OpenBlock::Thinking {
            events.push(self.delta(json!({"type": "signature_delta", "signature": SIGNATURE})));
        }
        events.push(event("content_block_stop", json!({"index": self.blocks - 1})));
        events
    }
}

impl ResponseWriter for AnthropicWriter {
    fn begin(&mut self, usage: ScriptedUsage) -> Vec<String> {
        let start = json!({"message": {
            "id": "msg_scripted",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "usage": {
                "input_tokens": usage.prompt_tokens - usage.cache_read_tokens,
                "cache_read_input_tokens": usage.cache_read_tokens,
                "cache_creation_input_tokens": 0,
                "output_tokens": 1,
            },
        }});
        vec![event("message_start", start), event("ping", json!({}))]
    }

    fn text(&mut self, piece: &str) -> Vec<String> {
        let mut events = self.within(OpenBlock::Text, json!({"type": "text", "text": ""}));
        events.push(self.delta(json!({"type": "text_delta", "text": piece})));
        events
    }

    fn reasoning(&mut self, piece: &str) -> Vec<String> {
        let start = json!({"type": "thinking", "thinking": "", "signature": ""});
        let mut events = self.within(OpenBlock::Thinking, start);
        events.push(self.delta(json!({"type": "thinking_delta", "thinking": piece})));
        events
    }

    fn calls(&mut self, calls: &[ScriptedCall], pieces: usize) -> Vec<String> {
        let mut events = Vec::new();
        for call in calls {
            events.extend(self.within(
                OpenBlock::Call,
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
            ));
            for part in split(&call.arguments, pieces) {
                events.push(self.delta(json!({"type": "input_json_delta", "partial_json": part})));
            }
        }
        events
    }

    fn finish(&mut self, reason: StopReason, usage: ScriptedUsage) -> Vec<String> {
        let reason = match reason {
            StopReason::Stop => "end_turn",
            StopReason::ToolCalls => "tool_use",
            StopReason::Length => "max_tokens",
            StopReason::ContentFilter => "refusal",
            StopReason::Other => "something_else",
        };
        let mut events = self.close();
        events.push(event(
            "message_delta",
            json!({
                "delta": {"stop_reason": reason, "stop_sequence": null},
                "usage": {"output_tokens": usage.completion_tokens},
            }),
        ));
        events.push(event("message_stop", json!({})));
        events
    }

    fn error(&mut self, kind: &str, message: &str) -> String {
        let mut body = error_body(kind, message);
        let error = body["error"].take();
        event("error", json!({"error": error}))
    }
}

pub(crate) fn error_body(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

/// Every event names its type twice: in the event line and in the data.
fn event(kind: &str, mut data: Value) -> String {
    data["type"] = json!(kind);
    format!("event: {kind}\ndata: {data}\n\n")
}
