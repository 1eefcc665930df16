//! A model behind a wire.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use protocol::CallId;
use protocol::message::ToolCall;
use protocol::turn::{FailureCode, ModelTier, TurnMode};
use protocol::usage::Usage;
use serde_json::Value;

/// Laws: the stream ends in exactly one `Finished` or one error; dropping it ends the request; nothing in
/// it waits for ever. It does not retry: only the step knows whether something was already shown.
#[async_trait]
pub trait ModelProvider: Send + Sync {
    /// `openai`, `anthropic`, `offline`.
    fn name(&self) -> &'static str;
    /// The model a tier stands for.
    fn model(&self, tier: ModelTier) -> &str;
    /// How many tokens that model can take, the answer included.
    fn window(&self, tier: ModelTier) -> u64;
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError>;
    /// Whether `title` asks a model, so that it is worth waiting for.
    fn gives_titles(&self) -> bool;
    /// A title of a few words for a conversation that starts with `message`; `None` when this provider has no model
    /// worth asking.
    async fn title(&self, message: &str) -> Result<Option<String>, ModelError>;
    /// Whether `stream` can be asked to sum a conversation up. One that has no model behind it cannot.
    fn summarises(&self) -> bool {
        true
    }
}

/// How the message begins that tells the model of an operation's end. It is the engine that speaks there, not a person.
pub const OPERATION_MARK: &str = "[Operation ";

pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    pub system: String,
    pub messages: Vec<ModelMessage>,
    /// Shared, because it is the same with every request.
    pub tools: Arc<[ToolDefinition]>,
    pub tool_use: ToolUse,
    pub tier: ModelTier,
    pub mode: TurnMode,
}

/// The tools are named either way: a provider refuses a history with calls of tools it is not told about, and keeps
/// what it has cached only while the list stays the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolUse {
    #[default]
    Allowed,
    /// On the last step, which has to end in words.
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
        /// What an earlier `Finished` of the same provider carried.
        provider_state: Option<Value>,
    },
    /// Follows the assistant message that made the call; every call has exactly one.
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
    /// A call begins. `index` names it until the step ends.
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
    /// Always the last.
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
    /// For a person; holds no key, no address and no body of the provider beyond its own error text.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Refused, reset, cut, not resolved.
    Unreachable,
    /// No connection, no first byte, or no further byte in time.
    TimedOut,
    /// 429, with the wait it asked for.
    RateLimited { after: Option<Duration> },
    /// 408, 5xx, 529.
    Overloaded { after: Option<Duration> },
    /// The request is longer than the model's window.
    TooLong,
    /// The provider does not want this request or this content.
    Refused,
    /// The key is wrong or missing.
    Auth,
    /// Not the protocol, or larger than anything sensible.
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

    /// The wait the provider asked for.
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
