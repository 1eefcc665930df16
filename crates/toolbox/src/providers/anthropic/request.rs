//! A request as a messages body.

use ports::model::{ModelMessage, ModelRequest, ToolDefinition, ToolUse};
use protocol::turn::TurnMode;
use serde_json::{Value, json};

use crate::providers::history;

/// Tokens the model may think with before it answers.
const THINKING_TOKENS: u32 = 8192;

/// A conversation has to begin with the person, also when its beginning was left out.
const OPENING: &str = "(The beginning of the conversation was omitted.)";

pub(super) fn body(model: &str, max_tokens: u32, request: &ModelRequest) -> Value {
    let history = history::tidy(&request.messages);
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

/// The provider keeps everything up to a marked place ready for the next request.
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

/// Where the tool loop begins that this request goes on with: after the person's last words.
fn running_loop(history: &[ModelMessage]) -> usize {
    let last_words = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
    history.iter().rposition(last_words).map_or(0, |at| at + 1)
}

/// Within a tool loop the provider wants its reasoning back. Where it is missing, because another
/// mode or another model made the call, the loop has to end without further reasoning.
fn can_think(running_loop: &[ModelMessage]) -> bool {
    running_loop.iter().all(|message| match message {
        ModelMessage::Assistant { provider_state, .. } => {
            !reasoning(provider_state.as_ref()).is_empty()
        }
        _ => true,
    })
}

/// The blocks that `events` put aside under the same name.
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
                // White space at the end of the last answer is refused.
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

/// Messages of one role in a row become one: the results of parallel calls have to come together.
fn push(messages: &mut Vec<Value>, role: &str, blocks: Vec<Value>) {
    if let Some(last) = messages.last_mut().filter(|last| last["role"] == role)
        && let Some(content) = last["content"].as_array_mut()
    {
        content.extend(blocks);
        return;
    }
    messages.push(json!({"role": role, "content": blocks}));
}
