//! Estimates sizes in tokens without the model's tokenizer, and cuts text to a size.

use ports::model::{ModelMessage, ModelRequest, ToolDefinition};
use protocol::text::cut_middle;
use serde_json::Value;

/// Bytes per token, a typical value across texts and languages.
const TOKEN_BYTES: usize = 4;
/// Tokens that the wire format adds to every message.
const FRAME_TOKENS: u64 = 8;
/// Largest accepted ratio of a provider's token count to the estimate. A larger count is not plausible.
const MAX_RATIO: f64 = 4.0;
/// Percent of the window above which compaction starts, and percent that remains after it. One step may also add at
/// most the latter.
const THRESHOLD_PERCENT: u64 = 80;
const TARGET_PERCENT: u64 = 40;

/// Tokens above which compaction starts.
pub(crate) fn compaction_threshold(window: u64) -> u64 {
    percent(window, THRESHOLD_PERCENT)
}

/// Tokens that should remain after compaction.
pub(crate) fn compaction_target(window: u64) -> u64 {
    percent(window, TARGET_PERCENT)
}

/// Bytes that the results of one step may take.
pub(crate) fn step_bytes(window: u64) -> usize {
    bytes(percent(window, TARGET_PERCENT))
}

pub(crate) fn percent(window: u64, percent: u64) -> u64 {
    // In this order an unlimited window stays unlimited.
    (window / 100).saturating_mul(percent)
}

pub(crate) fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(TOKEN_BYTES)
}

pub(crate) fn request_tokens(request: &ModelRequest) -> u64 {
    let tools: u64 = request.tools.iter().map(tool_tokens).sum();
    let messages: u64 = request.messages.iter().map(message_tokens).sum();
    text_tokens(&request.system) + tools + messages
}

pub(crate) fn message_tokens(message: &ModelMessage) -> u64 {
    let tokens = match message {
        ModelMessage::User { text } => text_tokens(text),
        ModelMessage::Assistant { text, tool_calls, provider_state } => {
            let call_bytes = tool_calls
                .iter()
                .map(|call| call.id.as_str().len() + call.name.len() + call.arguments.len());
            let state = provider_state.as_ref().map_or(0, json_bytes);
            text_tokens(text) + tokens(call_bytes.sum::<usize>() + state)
        }
        ModelMessage::ToolResult { call_id, content, .. } => {
            text_tokens(content) + text_tokens(call_id.as_str())
        }
    };
    FRAME_TOKENS + tokens
}

fn tool_tokens(tool: &ToolDefinition) -> u64 {
    let bytes = tool.name.len() + tool.description.len() + json_bytes(&tool.parameters);
    FRAME_TOKENS + tokens(bytes)
}

/// Approximate length when serialized. Serializing would take longer, and every step of every turn is measured.
fn json_bytes(value: &Value) -> usize {
    const QUOTES: usize = 2;
    const NUMBER: usize = 6;
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => NUMBER,
        Value::String(text) => text.len() + QUOTES,
        Value::Array(items) => 1 + items.iter().map(|item| json_bytes(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            let field =
                |(name, value): (&String, &Value)| name.len() + QUOTES + 2 + json_bytes(value);
            1 + fields.iter().map(field).sum::<usize>()
        }
    }
}

fn text_tokens(text: &str) -> u64 {
    tokens(text.len())
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(TOKEN_BYTES) as u64
}

/// The size to which the larger ones must be cut so that all together fit; the smaller ones stay whole.
pub(crate) fn fair_share(sizes: impl Iterator<Item = usize>, room: usize) -> usize {
    let mut sizes: Vec<usize> = sizes.collect();
    sizes.sort_unstable();
    let mut room = room;
    let mut left = sizes.len();
    for size in sizes {
        let share = room / left;
        if size > share {
            return share;
        }
        room -= size;
        left -= 1;
    }
    usize::MAX
}

/// Cuts the text in the middle to about `bytes` bytes.
pub(crate) fn cut_to(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let chars = text.chars().count() as u128 * bytes as u128 / text.len() as u128;
    cut_middle(text, chars as usize)
}

/// What this attempt has learned about the model's window.
#[derive(Debug)]
pub(crate) struct WindowEstimate {
    /// Ratio of the provider's token count to the estimate.
    ratio: f64,
    /// Largest window that is still plausible after a request was refused as too long.
    max_tokens: Option<u64>,
    pub(crate) refusals: u32,
}

impl Default for WindowEstimate {
    fn default() -> Self {
        Self { ratio: 1.0, max_tokens: None, refusals: 0 }
    }
}

impl WindowEstimate {
    /// Records that the provider counted `prompt_tokens` for this request.
    pub(crate) fn observe_count(&mut self, request: &ModelRequest, prompt_tokens: u64) {
        let ratio = prompt_tokens as f64 / request_tokens(request).max(1) as f64;
        // An estimate that is too high compacts a little early; one that is too low would compact too late.
        self.ratio = ratio.clamp(1.0, MAX_RATIO);
    }

    /// Records that the provider refused a request of this many estimated tokens: half of it is assumed as its window.
    pub(crate) fn observe_refusal(&mut self, estimated: u64) {
        self.refusals += 1;
        self.max_tokens = Some(estimated / 2);
    }

    /// The model's window, as far as known.
    pub(crate) fn window(&self, configured: u64) -> u64 {
        configured.min(self.max_tokens.unwrap_or(u64::MAX))
    }

    /// The same in estimated tokens.
    pub(crate) fn estimated_window(&self, configured: u64) -> u64 {
        let estimated = (configured as f64 / self.ratio) as u64;
        estimated.min(self.max_tokens.unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use protocol::turn::{ModelTier, TurnMode};

    use super::*;

    #[test]
    fn the_estimated_json_length_is_close_to_the_serialized_length() {
        let value = serde_json::json!({"type": "object", "required": ["a", "b"], "n": 123_456, "deep": [{"x": null}, true, "words"]});
        let written = value.to_string().len();
        assert!(
            json_bytes(&value).abs_diff(written) <= written / 20,
            "{} for {written}",
            json_bytes(&value)
        );
    }

    fn request(text: &str) -> ModelRequest {
        ModelRequest {
            system: "1234".into(),
            messages: vec![ModelMessage::User { text: text.into() }],
            tools: [].into(),
            tool_use: ports::model::ToolUse::Allowed,
            tier: ModelTier::Standard,
            mode: TurnMode::Fast,
        }
    }

    #[test]
    fn small_parts_stay_whole_and_large_ones_share_the_rest() {
        let table: [(&[usize], usize, usize); 6] = [
            (&[], 10, usize::MAX),
            (&[3, 4], 10, usize::MAX),
            (&[5, 5], 10, usize::MAX),
            (&[100], 10, 10),
            (&[2, 100, 100], 12, 5),
            (&[9, 9, 9], 0, 0),
        ];
        for (sizes, room, share) in table {
            assert_eq!(fair_share(sizes.iter().copied(), room), share, "{sizes:?} in {room}");
        }
    }

    #[test]
    fn a_text_is_cut_to_about_the_given_bytes_in_any_script() {
        for text in ["a".repeat(9_000), "漢".repeat(3_000)] {
            let cut = cut_to(&text, 900);
            assert!(cut.len() <= 950 && cut.contains("characters cut"), "{}", cut.len());
        }
        assert_eq!(cut_to("whole", 5), "whole");
    }

    #[test]
    fn system_prompt_tools_and_messages_are_counted() {
        let mut asked = request("12345678");
        assert_eq!(request_tokens(&asked), 1 + 2 + FRAME_TOKENS);
        asked.tools = [ToolDefinition {
            name: "name".into(),
            description: "description!".into(),
            parameters: serde_json::json!({}),
        }]
        .into();
        assert_eq!(request_tokens(&asked), 1 + 2 + FRAME_TOKENS + 5 + FRAME_TOKENS);
    }

    #[test]
    fn the_provider_count_only_makes_the_window_smaller() {
        let mut estimate = WindowEstimate::default();
        let asked = request(&"x".repeat(4_000));
        let estimated = request_tokens(&asked);
        for (counted, window) in [(0, 1000), (estimated, 1000), (estimated * 2, 500)] {
            estimate.observe_count(&asked, counted);
            assert_eq!(estimate.estimated_window(1000), window, "{counted}");
            assert_eq!(estimate.window(1000), 1000);
        }
        estimate.observe_count(&asked, estimated * 100);
        assert_eq!(estimate.estimated_window(1000), 250, "an implausible count is capped");
    }

    #[test]
    fn a_refusal_makes_the_window_smaller() {
        let mut estimate = WindowEstimate::default();
        estimate.observe_refusal(600);
        assert_eq!((estimate.window(1000), estimate.estimated_window(1000)), (300, 300));
        assert_eq!(estimate.window(100), 100);
    }
}
