//! One event of the AI SDK UI message stream v1, limited to the events that every client since 6.0.0 accepts. Absent
//! optional fields are omitted (a `null` breaks the client's stream); `input`, `output` and `data` are always written.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{BackgroundId, CallId, MessageId};
use crate::response::BackgroundStatus;
use crate::usage::Usage;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Chunk {
    Start {
        message_id: MessageId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
    StartStep,
    FinishStep,
    TextStart {
        id: String,
    },
    TextDelta {
        id: String,
        delta: String,
    },
    TextEnd {
        id: String,
    },
    ReasoningStart {
        id: String,
    },
    ReasoningDelta {
        id: String,
        delta: String,
    },
    ReasoningEnd {
        id: String,
    },
    ToolInputStart {
        tool_call_id: CallId,
        tool_name: String,
    },
    ToolInputDelta {
        tool_call_id: CallId,
        input_text_delta: String,
    },
    ToolInputAvailable {
        tool_call_id: CallId,
        tool_name: String,
        input: Value,
    },
    ToolInputError {
        tool_call_id: CallId,
        tool_name: String,
        input: Value,
        error_text: String,
    },
    ToolOutputAvailable {
        tool_call_id: CallId,
        output: Value,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
    },
    ToolOutputError {
        tool_call_id: CallId,
        error_text: String,
    },
    /// What the turn is doing while it has no output. Not kept by the client.
    #[serde(rename = "data-status")]
    DataStatus {
        data: StatusData,
        transient: bool,
    },
    /// Another worker continues the turn; the named chunks were written by the previous one.
    #[serde(rename = "data-attempt")]
    DataAttempt {
        data: AttemptData,
    },
    #[serde(rename = "data-usage")]
    DataUsage {
        data: Usage,
    },
    /// Follow-ups were delivered to the model before the next step.
    #[serde(rename = "data-pending-drained")]
    DataPendingDrained {
        data: DrainedData,
    },
    /// Earlier messages were summarized.
    #[serde(rename = "data-compaction")]
    DataCompaction {
        data: CompactionData,
    },
    /// The state of a background call. The id is its background id, so that a later chunk replaces an earlier one.
    #[serde(rename = "data-background")]
    DataBackground {
        id: BackgroundId,
        data: BackgroundData,
    },
    Error {
        error_text: String,
    },
    Abort,
    Finish {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StatusData {
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DrainedData {
    pub count: usize,
    pub messages: Vec<DrainedMessage>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DrainedMessage {
    pub id: MessageId,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionData {
    /// How many messages of the history the summary replaces.
    pub folded: usize,
    /// The last of them.
    pub through: MessageId,
    /// Estimated tokens of the session before and after.
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub summary: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundData {
    pub tool_call_id: CallId,
    pub tool_name: String,
    pub status: BackgroundStatus,
    /// The result, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptData {
    /// 2 for the first takeover.
    pub attempt: u32,
    /// First and last chunk id of the step that is repeated; absent when none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<SupersededRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SupersededRange {
    pub from: u64,
    pub to: u64,
}

/// The reasons that all client versions know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    Stop,
    Length,
    ContentFilter,
    ToolCalls,
    Error,
    Other,
}

impl Chunk {
    pub fn status(message: impl Into<String>) -> Self {
        Self::DataStatus { data: StatusData { message: message.into() }, transient: true }
    }

    /// An error as the client shows it: a machine-readable code, then text for people.
    pub fn error(code: &str, message: &str) -> Self {
        Self::Error { error_text: format!("[code:{code}] {message}") }
    }

    /// Whether this chunk may only be written together with a final status.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Finish { .. } | Self::Abort | Self::Error { .. })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn chunks_have_the_wire_names_of_the_client() {
        let table = [
            (
                Chunk::Start { message_id: "m".into(), message_metadata: None },
                json!({"type":"start","messageId":"m"}),
            ),
            (Chunk::StartStep, json!({"type":"start-step"})),
            (
                Chunk::ToolInputStart { tool_call_id: "c".into(), tool_name: "t".into() },
                json!({"type":"tool-input-start","toolCallId":"c","toolName":"t"}),
            ),
            (
                Chunk::ToolInputDelta { tool_call_id: "c".into(), input_text_delta: "{".into() },
                json!({"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{"}),
            ),
            (
                Chunk::ToolOutputAvailable {
                    tool_call_id: "c".into(),
                    output: Value::Null,
                    preliminary: false,
                },
                json!({"type":"tool-output-available","toolCallId":"c","output":null}),
            ),
            (
                Chunk::status("Thinking"),
                json!({"type":"data-status","data":{"message":"Thinking"},"transient":true}),
            ),
            (Chunk::Abort, json!({"type":"abort"})),
            (
                Chunk::Finish {
                    finish_reason: Some(FinishReason::ToolCalls),
                    message_metadata: None,
                },
                json!({"type":"finish","finishReason":"tool-calls"}),
            ),
        ];
        for (chunk, wire) in table {
            let written = serde_json::to_value(&chunk).expect("a chunk is JSON");
            assert_eq!(written, wire);
            let read: Chunk = serde_json::from_value(wire).expect("the chunk is read back");
            assert_eq!(read, chunk);
        }
    }
}
