//! Turns: their state, their authority to write, and how they end.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{CallId, MessageId, OperationId, SessionId, TurnId, UserId, WorkerId};
use crate::permissions::Permissions;
use crate::usage::Usage;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TurnStatus {
    Queued,
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl TurnStatus {
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Which of the configured models a turn wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelTier {
    #[default]
    Standard,
    Advanced,
}

/// Whether the model should think at length before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnMode {
    #[default]
    Fast,
    ExtendedThinking,
}

/// What a turn was asked to do, beyond the message itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnRequest {
    #[serde(default)]
    pub mode: TurnMode,
    #[serde(default)]
    pub tier: ModelTier,
    /// What the client says about where the person is, e.g. `url` and `content` of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// What the turn may use; whatever it delegates gets no more.
    #[serde(default, skip_serializing_if = "Permissions::is_unlimited")]
    pub permissions: Permissions,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub id: TurnId,
    pub session_id: SessionId,
    pub user_id: Option<UserId>,
    pub status: TurnStatus,
    /// The id of the assistant message this turn streams; the same in every attempt and replay.
    pub message_id: MessageId,
    pub request: TurnRequest,
    /// Raised by every claim; a write with an older one changes nothing.
    pub fence: u64,
    /// Claims that did not end in a result or an orderly hand-back, the present one included.
    pub attempt: u32,
    /// Whether it has its place among those that may run; otherwise it waits for one.
    pub admitted: bool,
    /// Waits for other work and has given its place to others meanwhile.
    pub aside: bool,
    /// The turn whose tool call started this one: a turn of a sub-session, or an operation.
    pub parent: Option<TurnId>,
    /// What it carries out, when it is an operation and not an answer to a message.
    pub operation: Option<OperationRef>,
    pub cancel_requested: bool,
    pub error: Option<TurnError>,
    pub usage: Usage,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// An operation, as its turn knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRef {
    pub id: OperationId,
    pub call_id: CallId,
    pub tool_name: String,
}

/// The right to act for a turn. It is worth nothing once the turn has been claimed again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TurnClaim {
    pub turn_id: TurnId,
    pub session_id: SessionId,
    pub fence: u64,
    pub worker: WorkerId,
}

/// Why a turn failed: a stable code for programs and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnError {
    pub code: FailureCode,
    pub message: String,
}

macro_rules! failure_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, retry $retry:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        pub enum FailureCode {
            $($(#[$doc])* #[serde(rename = $code)] $name,)*
        }

        impl FailureCode {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Whether sending the same message again may well succeed.
            pub fn worth_retrying(self) -> bool {
                match self { $(Self::$name => $retry,)* }
            }
        }
    };
}

failure_codes! {
    /// The model said nothing for too long.
    IdleTimeout = "idle_timeout", retry true;
    /// The provider could not be reached or is overloaded, also after retries.
    TransientApiError = "transient_api_error", retry true;
    /// The provider refuses the key.
    ProviderAuth = "provider_auth", retry false;
    /// The provider refuses the request or its content.
    ProviderRefused = "provider_refused", retry false;
    /// The provider answered something that is not its protocol.
    ProviderProtocol = "provider_protocol", retry true;
    /// The history no longer fits the model's window.
    ContextTooLong = "context_too_long", retry false;
    /// The model ended without a word and without a tool call.
    EmptyCompletion = "empty_completion", retry true;
    /// Three workers died over this turn.
    CrashLoop = "crash_loop", retry true;
    MaxSteps = "max_turns_exhausted", retry false;
    MaxToolCalls = "max_tool_calls_exhausted", retry false;
    MaxTokens = "max_tokens_exhausted", retry false;
    MaxCost = "max_budget_exhausted", retry false;
    MaxTime = "max_time_exhausted", retry false;
    /// The same call failed the same way again and again.
    RepeatedFailures = "circuit_breaker_repeated_failures", retry false;
    /// Call after call without arguments.
    EmptyToolCalls = "circuit_breaker_empty_tool_calls", retry false;
    /// The disk is full.
    StorageFull = "storage_full", retry true;
    /// A fault of ours.
    Internal = "internal_error", retry true;
}

impl TurnError {
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
