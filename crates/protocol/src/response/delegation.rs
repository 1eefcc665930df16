//! Work that continues outside of a call: background calls and sub-sessions.

use serde::{Deserialize, Serialize};

use crate::ids::{BackgroundId, CallId};
use crate::message::MessageRole;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundStatus {
    Completed,
    StillRunning,
    Cancelled,
    Error,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BackgroundTool {
    pub background_id: BackgroundId,
    pub tool: String,
    pub age_seconds: u64,
    pub done: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubSessionState {
    Completed,
    Running,
    Queued,
    Cancelled,
    Error,
}

/// A tool call of a sub-session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SubSessionCall {
    pub tool_call_id: CallId,
    pub tool_name: String,
    /// Whether it has ended, successfully or not.
    pub done: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SubSessionProgress {
    pub message_count: u64,
    /// The last five, oldest first, each truncated to 400 characters.
    pub last_messages: Vec<SubSessionMessage>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SubSessionMessage {
    pub role: MessageRole,
    pub content: String,
}
