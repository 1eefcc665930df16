//! Parses the events of a streamed message.

use std::collections::{BTreeMap, VecDeque};

use ports::model::{ModelError, ModelEvent, StopReason};
use protocol::CallId;
use protocol::sse::SseEvent;
use protocol::usage::Usage;
use serde_json::{Value, json};

use crate::providers::http;
use crate::providers::options::TokenPrices;
use crate::providers::response_stream::{EventReader, ReadProgress};

/// Key in the provider state under which the reasoning is kept for the next request of the tool loop.
pub(crate) const STATE: &str = "thinking";

/// Prices of cache reads and writes, relative to the price of an input token.
const CACHE_READ_PRICE: f64 = 0.1;
const CACHE_WRITE_PRICE: f64 = 1.25;

pub(crate) struct MessageEventReader {
    prices: TokenPrices,
    open: BTreeMap<u64, ContentBlock>,
    calls: usize,
    /// Finished, signed reasoning blocks; the provider requires them back unchanged.
    reasoning: Vec<Value>,
    counts: TokenCounts,
    reason: Option<StopReason>,
}

enum ContentBlock {
    Text,
    Thinking { text: String, signature: String },
    Call { index: usize },
    Other,
}

/// The latest totals that the provider reported.
#[derive(Default)]
struct TokenCounts {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
}

impl MessageEventReader {
    pub(crate) fn new(prices: TokenPrices) -> Self {
        Self {
            prices,
            open: BTreeMap::new(),
            calls: 0,
            reasoning: Vec::new(),
            counts: TokenCounts::default(),
            reason: None,
        }
    }

    fn start(
        &mut self,
        event: &Value,
        pending: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        let start = &event["content_block"];
        let block = match start["type"].as_str().unwrap_or_default() {
            "text" => {
                push_text(pending, ModelEvent::Text, &start["text"]);
                ContentBlock::Text
            }
            "thinking" => {
                push_text(pending, ModelEvent::Reasoning, &start["thinking"]);
                ContentBlock::Thinking {
                    text: string(&start["thinking"]),
                    signature: string(&start["signature"]),
                }
            }
            "redacted_thinking" => {
                self.reasoning.push(start.clone());
                ContentBlock::Other
            }
            "tool_use" => {
                let index = self.calls;
                self.calls += 1;
                let (id, name) = (CallId(string(&start["id"])), string(&start["name"]));
                if id.as_str().is_empty() || name.is_empty() {
                    return Err(http::broken("a tool call has no name"));
                }
                pending.push_back(ModelEvent::ToolCall { index, id, name });
                // Normally empty here and streamed afterwards.
                if start["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    let delta = start["input"].to_string();
                    pending.push_back(ModelEvent::ToolInput { index, delta });
                }
                ContentBlock::Call { index }
            }
            _ => ContentBlock::Other,
        };
        self.open.insert(number(event), block);
        Ok(())
    }

    fn append_delta(
        &mut self,
        event: &Value,
        pending: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        let delta = &event["delta"];
        let kind = delta["type"].as_str().unwrap_or_default();
        let block = self
            .open
            .get_mut(&number(event))
            .ok_or_else(|| http::broken("a delta belongs to no content block"))?;
        match (kind, block) {
            ("text_delta", ContentBlock::Text) => {
                push_text(pending, ModelEvent::Text, &delta["text"])
            }
            ("thinking_delta", ContentBlock::Thinking { text, .. }) => {
                text.push_str(delta["thinking"].as_str().unwrap_or_default());
                push_text(pending, ModelEvent::Reasoning, &delta["thinking"]);
            }
            ("signature_delta", ContentBlock::Thinking { signature, .. }) => {
                signature.push_str(delta["signature"].as_str().unwrap_or_default());
            }
            ("input_json_delta", ContentBlock::Call { index }) => {
                let part = string(&delta["partial_json"]);
                if !part.is_empty() {
                    pending.push_back(ModelEvent::ToolInput { index: *index, delta: part });
                }
            }
            // Citations and future kinds are ignored.
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, event: &Value) {
        if let Some(ContentBlock::Thinking { text, signature }) = self.open.remove(&number(event)) {
            self.reasoning
                .push(json!({"type": "thinking", "thinking": text, "signature": signature}));
        }
    }

    fn count(&mut self, usage: &Value) {
        let counts = &mut self.counts;
        for (name, count) in [
            ("input_tokens", &mut counts.input),
            ("cache_read_input_tokens", &mut counts.cache_read),
            ("cache_creation_input_tokens", &mut counts.cache_write),
            ("output_tokens", &mut counts.output),
        ] {
            *count = usage[name].as_u64().unwrap_or(*count);
        }
    }

    fn usage(&self) -> Usage {
        let TokenCounts { input, cache_read, cache_write, output } = self.counts;
        let at_full_price = input as f64
            + cache_read as f64 * CACHE_READ_PRICE
            + cache_write as f64 * CACHE_WRITE_PRICE;
        Usage {
            // The provider reports cached tokens separately; `prompt_tokens` includes them.
            prompt_tokens: input + cache_read + cache_write,
            completion_tokens: output,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            cost_microdollars: self.prices.microdollars(at_full_price, output),
        }
    }
}

impl EventReader for MessageEventReader {
    fn read(
        &mut self,
        event: &SseEvent,
        redactor: &http::SecretRedactor,
        pending: &mut VecDeque<ModelEvent>,
    ) -> Result<ReadProgress, ModelError> {
        let data: Value = serde_json::from_str(&event.data)
            .map_err(|_| http::broken("an event is not a message event"))?;
        match data["type"].as_str() {
            Some("message_start") => self.count(&data["message"]["usage"]),
            Some("content_block_start") => self.start(&data, pending)?,
            Some("content_block_delta") => self.append_delta(&data, pending)?,
            Some("content_block_stop") => self.stop(&data),
            Some("message_delta") => {
                self.count(&data["usage"]);
                let reason = data["delta"]["stop_reason"].as_str().map(stop_reason);
                self.reason = reason.or(self.reason);
            }
            Some("message_stop") => {
                return if self.reason.is_some() {
                    Ok(ReadProgress::Ended)
                } else {
                    Err(http::incomplete())
                };
            }
            Some("error") => return Err(http::stream_error(&data, redactor)),
            // `ping` and future kinds.
            Some(_) => {}
            None => return Err(http::broken("an event is not a message event")),
        }
        Ok(if self.reason.is_some() { ReadProgress::Complete } else { ReadProgress::More })
    }

    fn finish(&mut self, pending: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let reason = self.reason.ok_or_else(http::incomplete)?;
        let reasoning = std::mem::take(&mut self.reasoning);
        let provider_state = (!reasoning.is_empty()).then(|| json!({STATE: reasoning}));
        pending.push_back(ModelEvent::Finished { reason, usage: self.usage(), provider_state });
        Ok(())
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::Stop,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::ContentFilter,
        _ => StopReason::Other,
    }
}

fn number(event: &Value) -> u64 {
    event["index"].as_u64().unwrap_or(0)
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn push_text(pending: &mut VecDeque<ModelEvent>, what: fn(String) -> ModelEvent, text: &Value) {
    let text = string(text);
    if !text.is_empty() {
        pending.push_back(what(text));
    }
}
