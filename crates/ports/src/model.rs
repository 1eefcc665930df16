//! The model provider.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use protocol::CallId;
use protocol::message::ToolCall;
use protocol::turn::{FailureCode, ModelTier, TurnMode};
use protocol::usage::Usage;
use serde_json::Value;

/// Laws: the stream ends in exactly one `Finished` or one error; dropping it ends the request; it never waits forever. It
/// does not retry: only the step knows whether output was already shown.
#[async_trait]
pub trait ModelProvider: Send + Sync {
    /// `openai`, `anthropic`, `offline`.
    fn name(&self) -> &'static str;
    /// The model of a tier.
    fn model(&self, tier: ModelTier) -> &str;
    /// The context size of that model in tokens, including its response.
    fn window(&self, tier: ModelTier) -> u64;
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError>;
    /// Whether `title` uses a model, so that it is worth waiting for.
    fn gives_titles(&self) -> bool;
    /// A title of a few words for a session that starts with `message`; `None` when this provider has no model for it.
    async fn title(&self, message: &str) -> Result<Option<String>, ModelError>;
    /// Whether `stream` can summarize a session. A provider without a model cannot.
    fn summarizes(&self) -> bool {
        true
    }
}

/// Prefix of the message that reports the end of an operation to the model. It is written by the engine, not by a person.
pub const OPERATION_MARK: &str = "[Operation ";

pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    pub system: String,
    pub messages: Vec<ModelMessage>,
    /// Shared, because it is the same in every request.
    pub tools: Arc<[ToolDefinition]>,
    pub tool_use: ToolUse,
    pub tier: ModelTier,
    pub mode: TurnMode,
}

/// The tools are listed either way: a provider refuses a history with calls of unlisted tools, and its cache is only valid
/// while the list stays the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolUse {
    #[default]
    Allowed,
    /// For the last step, which must end in text.
    Forbidden,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    pub parameters: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ModelMessage {
    User {
        text: String,
    },
    Assistant {
        text: String,
        tool_calls: Vec<ToolCall>,
        /// The `provider_state` of an earlier `Finished` of the same provider.
        provider_state: Option<Value>,
    },
    /// Follows the assistant message with the call; every call has exactly one.
    ToolResult {
        call_id: CallId,
        name: String,
        content: String,
        is_error: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// A call starts. `index` identifies it until the step ends.
    ToolCall {
        index: usize,
        id: CallId,
        name: String,
    },
    /// More of its arguments.
    ToolInput {
        index: usize,
        delta: String,
    },
    /// Always the last event.
    Finished {
        reason: StopReason,
        usage: Usage,
        provider_state: Option<Value>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    Other,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    /// For people; contains no key, no address and nothing of the provider's body except its error text.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Refused, reset, cut, not resolved.
    Unreachable,
    /// No connection, no first byte, or no further byte in time.
    TimedOut,
    /// 429, with the requested wait.
    RateLimited { after: Option<Duration> },
    /// 408, 5xx, 529.
    Overloaded { after: Option<Duration> },
    /// The request is longer than the model's context.
    TooLong,
    /// The provider declined the request or its content.
    Refused,
    /// The key is wrong or missing.
    Auth,
    /// Violates the protocol, or is unreasonably large.
    Broken,
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub fn retryable(&self) -> bool {
        use ModelErrorKind::*;
        matches!(self.kind, Unreachable | TimedOut | RateLimited { .. } | Overloaded { .. })
    }

    /// The wait that the provider requested.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            ModelErrorKind::RateLimited { after } | ModelErrorKind::Overloaded { after } => after,
            _ => None,
        }
    }

    pub fn failure_code(&self) -> FailureCode {
        use ModelErrorKind::*;
        match self.kind {
            Unreachable | RateLimited { .. } | Overloaded { .. } => FailureCode::TransientApiError,
            TimedOut => FailureCode::IdleTimeout,
            TooLong => FailureCode::ContextTooLong,
            Refused => FailureCode::ProviderRefused,
            Auth => FailureCode::ProviderAuth,
            Broken => FailureCode::ProviderProtocol,
        }
    }
}
