//! The messages of a session's history.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{CallId, MessageId, SessionId, TurnId};
use crate::text_enum::text_enum;

text_enum! {
    #[derive(utoipa::ToSchema)]
    pub enum MessageRole {
        User = "user",
        Assistant = "assistant",
        /// The result of one tool call.
        Tool = "tool",
        /// A notice for the user (a stop, an error). Never sent to the model.
        System = "system",
    }
}

/// A tool call requested by the model. The arguments are kept as the model wrote them, valid JSON or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub arguments: String,
}

text_enum! {
    /// How a tool call ended. Every call has exactly one outcome before the next model call.
    #[derive(utoipa::ToSchema)]
    pub enum ToolOutcome {
        Ok = "ok",
        Error = "error",
        Denied = "denied",
        Cancelled = "cancelled",
        /// The worker stopped between the effect and its record: the effect may or may not have happened.
        Interrupted = "interrupted",
    }
}

/// A message before it is stored. The store assigns its sequence and time.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMessage {
    pub id: MessageId,
    pub role: MessageRole,
    pub content: String,
    pub reasoning: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    pub tool_call_id: Option<CallId>,
    /// The tool's name in a tool message.
    pub name: Option<String>,
    pub outcome: Option<ToolOutcome>,
    pub model: Option<String>,
    /// Data for the client: `{"kind":"error","code":…}`, attached files.
    pub metadata: Option<Value>,
    /// Opaque data that the provider expects back with the next request (signatures of its reasoning).
    pub provider_state: Option<Value>,
}

impl NewMessage {
    pub fn new(role: MessageRole, content: impl Into<String>) -> Self {
        Self {
            id: MessageId::fresh(),
            role,
            content: content.into(),
            reasoning: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            outcome: None,
            model: None,
            metadata: None,
            provider_state: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: MessageId,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    /// 1, 2, 3, … within the session, without gaps.
    pub sequence: i64,
    pub created_at: Timestamp,
    pub role: MessageRole,
    pub content: String,
    pub reasoning: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    pub tool_call_id: Option<CallId>,
    pub name: Option<String>,
    pub outcome: Option<ToolOutcome>,
    pub model: Option<String>,
    pub duration_ms: Option<u64>,
    pub metadata: Option<Value>,
    pub provider_state: Option<Value>,
}
