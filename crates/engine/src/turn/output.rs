//! Tool results as stored and shown: scrubbed, limited in size, one row and one chunk.

use protocol::chunk::Chunk;
use protocol::limits::TOOL_OUTPUT_CHARS;
use protocol::message::{MessageRole, NewMessage, ToolCall, ToolOutcome};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::text::{cut_middle, scrub};
use serde_json::{Value, json};

use super::leased_turn::LeasedTurn;

pub(crate) const INTERRUPTED: &str = "The server stopped while this call was running. It may or may not have happened; it was not repeated.";
pub(crate) const CANCELLED: &str = "The turn was stopped before this call had a result.";

/// A response of this session.
pub(crate) fn session_response(leased: &LeasedTurn, words: &str, body: ResponseBody) -> Value {
    let mut response = ToolResponse::new(words, body);
    response.session_id = Some(leased.workspace.session.clone());
    json!(response)
}

/// The output of a call of this session, cut to the limit.
pub(crate) async fn session_output(
    leased: &LeasedTurn,
    call: &ToolCall,
    mut response: ToolResponse,
) -> Value {
    response.session_id = Some(leased.workspace.session.clone());
    limit_output(leased, call, &response).await
}

/// Output over the limit is cut; the complete output is kept as a file that the model can read in parts.
pub(crate) async fn limit_output(
    leased: &LeasedTurn,
    call: &ToolCall,
    response: &ToolResponse,
) -> Value {
    let output = scrub(serde_json::to_value(response).unwrap_or_default());
    let text = output.to_string();
    if text.chars().count() <= TOOL_OUTPUT_CHARS {
        return output;
    }
    let path = format!("tool-outputs/{}.json", safe_name(call.id.as_str()));
    let LeasedTurn { inner, workspace, .. } = leased;
    let kept = inner.ports.files.write(workspace, &path, text.into(), true).await;
    let note = match kept {
        Ok(Ok(_)) => format!("Cut to fit. The whole output is in the workspace file {path}."),
        Ok(Err(_)) | Err(_) => "Cut to fit. The whole output could not be kept.".to_owned(),
    };
    cut_output(output, &note)
}

/// Cuts the longest text of the output until it fits, and appends the note to its message.
pub(crate) fn cut_output(mut output: Value, note: &str) -> Value {
    if output.to_string().chars().count() <= TOOL_OUTPUT_CHARS {
        return output;
    }
    if let Some(message) = output.get_mut("message") {
        *message =
            Value::String(format!("{} {note}", cut_middle(message.as_str().unwrap_or(""), 2000)));
    }
    for _ in 0..32 {
        let length = output.to_string().chars().count();
        if length <= TOOL_OUTPUT_CHARS {
            return output;
        }
        let over = length - TOOL_OUTPUT_CHARS;
        let Some(longest) = longest_text(&mut output) else { break };
        let chars = longest.chars().count();
        // Escapes make the JSON longer than the text, so each round cuts at least half.
        *longest = cut_middle(longest, chars.saturating_sub(over + 100).min(chars / 2 + 50));
        if chars <= 200 {
            break;
        }
    }
    if output.to_string().chars().count() <= TOOL_OUTPUT_CHARS {
        return output;
    }
    let kind = output.get("type").cloned().unwrap_or_default();
    json!({ "type": kind, "message": note, "truncated": true })
}

fn longest_text(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(items) => items.iter_mut().filter_map(longest_text).max_by_key(|t| t.len()),
        Value::Object(map) => map.values_mut().filter_map(longest_text).max_by_key(|t| t.len()),
        _ => None,
    }
}

fn safe_name(id: &str) -> String {
    id.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(80).collect()
}

/// The result row of a call.
pub(crate) fn result_row(call: &ToolCall, output: &Value, outcome: ToolOutcome) -> NewMessage {
    let mut row = NewMessage::new(MessageRole::Tool, output.to_string());
    row.tool_call_id = Some(call.id.clone());
    row.name = Some(call.name.clone());
    row.outcome = Some(outcome);
    row
}

/// A result as a chunk for the client. Calls without a result of their own are shown as errors.
pub(crate) fn result_chunk(call: &ToolCall, output: Value, outcome: ToolOutcome) -> Chunk {
    let tool_call_id = call.id.clone();
    match outcome {
        ToolOutcome::Ok | ToolOutcome::Error | ToolOutcome::Denied => {
            Chunk::ToolOutputAvailable { tool_call_id, output, preliminary: false }
        }
        ToolOutcome::Cancelled => {
            Chunk::ToolOutputError { tool_call_id, error_text: CANCELLED.to_owned() }
        }
        ToolOutcome::Interrupted => {
            Chunk::ToolOutputError { tool_call_id, error_text: INTERRUPTED.to_owned() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_over_the_limit_is_cut_in_its_longest_text_and_says_so() {
        let long = "\"\n".repeat(90_000);
        let cut = cut_output(
            json!({"type":"bash_exec","message":"Done.","stdout":long,"stderr":"kept"}),
            "See file.",
        );
        assert!(cut.to_string().chars().count() <= TOOL_OUTPUT_CHARS);
        assert_eq!(cut["stderr"], "kept");
        assert!(cut["message"].as_str().expect("text").ends_with("See file."));
        assert!(cut["stdout"].as_str().expect("text").contains("characters cut"));
    }

    #[test]
    fn output_of_many_small_values_is_replaced_by_the_note() {
        let many: Vec<u32> = (0..60_000).collect();
        let cut = cut_output(json!({"type":"x","message":"m","items":many}), "note");
        assert_eq!(cut, json!({"type":"x","message":"note","truncated":true}));
    }
}
