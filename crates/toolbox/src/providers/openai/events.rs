//! Parses the chunks of a chat completion.

use std::collections::VecDeque;

use ports::model::{ModelError, ModelEvent, StopReason};
use protocol::sse::SseEvent;
use protocol::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::tool_calls::{CallDelta, ToolCallAssembler};
use crate::providers::http;
use crate::providers::options::TokenPrices;
use crate::providers::response_stream::{EventReader, ReadProgress};

pub(crate) struct CompletionChunkReader {
    prices: TokenPrices,
    calls: ToolCallAssembler,
    reason: Option<StopReason>,
    usage: Usage,
}

#[derive(Deserialize)]
struct CompletionChunk {
    #[serde(default)]
    choices: Option<Vec<CompletionChoice>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct CompletionChoice {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    delta: Option<MessageDelta>,
    /// The whole message, from a server that does not stream.
    #[serde(default)]
    message: Option<MessageDelta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct MessageDelta {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    /// In dollars, from servers that resell models.
    #[serde(default)]
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    cache_write_tokens: Option<u64>,
}

impl CompletionChunkReader {
    pub(crate) fn new(prices: TokenPrices) -> Self {
        Self { prices, calls: ToolCallAssembler::default(), reason: None, usage: Usage::default() }
    }

    fn delta(
        &mut self,
        delta: MessageDelta,
        pending: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        // Some servers send the same text in both fields.
        let reasoning = delta.reasoning_content.filter(|text| !text.is_empty()).or(delta.reasoning);
        push_text(pending, ModelEvent::Reasoning, reasoning.unwrap_or_default());
        content(delta.content, pending);
        push_text(pending, ModelEvent::Text, delta.refusal.unwrap_or_default());
        for call in delta.tool_calls.unwrap_or_default() {
            self.calls.read(call, pending)?;
        }
        Ok(())
    }

    fn record_usage(&mut self, usage: WireUsage) {
        let details = usage.prompt_tokens_details;
        let prompt_tokens = usage.prompt_tokens.unwrap_or(0);
        let completion_tokens = usage.completion_tokens.unwrap_or(0);
        // The price of cached tokens differs by model; the full price overestimates at most.
        let priced = self.prices.microdollars(prompt_tokens as f64, completion_tokens);
        let charged = usage.cost.filter(|cost| cost.is_finite() && *cost >= 0.0);
        self.usage = Usage {
            prompt_tokens,
            completion_tokens,
            cache_read_tokens: details.as_ref().and_then(|d| d.cached_tokens).unwrap_or(0),
            cache_write_tokens: details.as_ref().and_then(|d| d.cache_write_tokens).unwrap_or(0),
            cost_microdollars: charged.map(|cost| (cost * 1e6).round() as u64).or(priced),
        };
    }
}

impl EventReader for CompletionChunkReader {
    fn read(
        &mut self,
        event: &SseEvent,
        redactor: &http::SecretRedactor,
        pending: &mut VecDeque<ModelEvent>,
    ) -> Result<ReadProgress, ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return if self.reason.is_some() {
                Ok(ReadProgress::Ended)
            } else {
                Err(http::incomplete())
            };
        }
        if data.is_empty() {
            return Ok(ReadProgress::More);
        }
        let chunk: CompletionChunk = serde_json::from_str(data)
            .map_err(|_| http::broken("an event is not a completion chunk"))?;
        if !chunk.error.is_null() || event.name.as_deref() == Some("error") {
            let body = serde_json::from_str(data).unwrap_or(Value::Null);
            return Err(http::stream_error(&body, redactor));
        }
        // Only one choice was requested.
        let first = |choice: &CompletionChoice| choice.index.unwrap_or(0) == 0;
        for choice in chunk.choices.unwrap_or_default().into_iter().filter(first) {
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta, pending)?;
            }
            let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
            self.reason = reason.as_deref().map(stop_reason).or(self.reason);
        }
        if let Some(usage) = chunk.usage {
            self.record_usage(usage);
        }
        Ok(if self.reason.is_some() { ReadProgress::Complete } else { ReadProgress::More })
    }

    fn finish(&mut self, pending: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        self.calls.check()?;
        let reason = match self.reason {
            // Several servers send `stop` after a tool call.
            Some(StopReason::Stop | StopReason::Other) if self.calls.any() => StopReason::ToolCalls,
            Some(reason) => reason,
            None => return Err(http::incomplete()),
        };
        pending.push_back(ModelEvent::Finished { reason, usage: self.usage, provider_state: None });
        Ok(())
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "stop" | "eos" | "end_turn" => StopReason::Stop,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "length" | "max_tokens" => StopReason::Length,
        "content_filter" => StopReason::ContentFilter,
        _ => StopReason::Other,
    }
}

/// Usually a string; some servers send a list of parts, including reasoning.
fn content(content: Value, pending: &mut VecDeque<ModelEvent>) {
    match content {
        Value::String(text) => push_text(pending, ModelEvent::Text, text),
        Value::Array(parts) => {
            for part in parts {
                match part["type"].as_str() {
                    Some("text") => push_text(pending, ModelEvent::Text, text_of(&part["text"])),
                    Some("thinking") => {
                        for inner in part["thinking"].as_array().unwrap_or(&Vec::new()) {
                            push_text(pending, ModelEvent::Reasoning, text_of(&inner["text"]));
                        }
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn push_text(pending: &mut VecDeque<ModelEvent>, what: fn(String) -> ModelEvent, text: String) {
    if !text.is_empty() {
        pending.push_back(what(text));
    }
}
