//! Builds the body of a Messages API request.

use ports::model::{ModelMessage, ModelRequest, ToolDefinition, ToolUse};
use protocol::turn::TurnMode;
use serde_json::{Value, json};

use crate::providers::history;

/// Token budget for extended thinking.
const THINKING_TOKENS: u32 = 8192;

/// Inserted when the first message of the history is not from the user, which the API requires.
const OPENING: &str = "(The beginning of the conversation was omitted.)";

pub(crate) fn body(model: &str, max_tokens: u32, request: &ModelRequest) -> Value {
    let history = history::normalize(&request.messages);
    let loop_start = running_loop(&history);
    let thinking = request.mode == TurnMode::ExtendedThinking && can_think(&history[loop_start..]);
    let mut body = json!({
        "model": model,
        "max_tokens": if thinking { max_tokens + THINKING_TOKENS } else { max_tokens },
        "stream": true,
        "messages": messages(&history, loop_start, thinking),
    });
    if thinking {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": THINKING_TOKENS});
    }
    if !request.system.trim().is_empty() {
        body["system"] = json!([cached(json!({"type": "text", "text": request.system}))]);
    }
    if !request.tools.is_empty() {
        body["tools"] = tools(&request.tools);
        if request.tool_use == ToolUse::Forbidden {
            body["tool_choice"] = json!({"type": "none"});
        }
    }
    body
}

/// Marks a cache breakpoint: the provider caches everything up to it for the next request.
fn cached(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

fn tools(tools: &[ToolDefinition]) -> Value {
    let last = tools.len() - 1;
    let tool = |(at, tool): (usize, &ToolDefinition)| {
        let definition = json!({
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.parameters,
        });
        if at == last { cached(definition) } else { definition }
    };
    tools.iter().enumerate().map(tool).collect()
}

/// Index at which the current tool loop starts: after the last user message.
fn running_loop(history: &[ModelMessage]) -> usize {
    let is_user = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
    history.iter().rposition(is_user).map_or(0, |at| at + 1)
}

/// Within a tool loop the provider requires its earlier reasoning. If it is missing, because another mode or model made
/// the call, the loop continues without reasoning.
fn can_think(running_loop: &[ModelMessage]) -> bool {
    running_loop.iter().all(|message| match message {
        ModelMessage::Assistant { provider_state, .. } => {
            !reasoning(provider_state.as_ref()).is_empty()
        }
        _ => true,
    })
}

/// The reasoning blocks that `events` stored in the provider state.
fn reasoning(provider_state: Option<&Value>) -> &[Value] {
    provider_state.and_then(|state| state[super::events::STATE].as_array()).map_or(&[], |b| b)
}

fn messages(history: &[ModelMessage], loop_start: usize, thinking: bool) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    if !matches!(history.first(), Some(ModelMessage::User { .. })) {
        push(&mut messages, "user", vec![text_block(OPENING)]);
    }
    for (at, message) in history.iter().enumerate() {
        match message {
            ModelMessage::User { text } => push(&mut messages, "user", vec![text_block(text)]),
            ModelMessage::Assistant { text, tool_calls, provider_state } => {
                let mut blocks = Vec::new();
                if thinking && at >= loop_start {
                    blocks.extend_from_slice(reasoning(provider_state.as_ref()));
                }
                // The API refuses trailing white space in the last assistant message.
                if !text.trim().is_empty() {
                    blocks.push(text_block(text.trim_end()));
                }
                blocks.extend(tool_calls.iter().map(|call| {
                    json!({
                        "type": "tool_use",
                        "id": call.id,
                        "name": call.name,
                        "input": history::arguments_object(&call.arguments),
                    })
                }));
                push(&mut messages, "assistant", blocks);
            }
            ModelMessage::ToolResult { call_id, content, is_error, .. } => {
                let mut block = json!({
                    "type": "tool_result",
                    "tool_use_id": call_id,
                    "content": history::result_text(content),
                });
                if *is_error {
                    block["is_error"] = json!(true);
                }
                push(&mut messages, "user", vec![block]);
            }
        }
    }
    messages
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Merges consecutive messages of one role: the results of parallel calls must be in one message.
fn push(messages: &mut Vec<Value>, role: &str, blocks: Vec<Value>) {
    if let Some(last) = messages.last_mut().filter(|last| last["role"] == role)
        && let Some(content) = last["content"].as_array_mut()
    {
        content.extend(blocks);
        return;
    }
    messages.push(json!({"role": role, "content": blocks}));
}
