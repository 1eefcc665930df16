//! Turns: their states, claims and errors.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{CallId, MessageId, OperationId, SessionId, TurnId, UserId, WorkerId};
use crate::permissions::Permissions;
use crate::text_enum::text_enum;
use crate::usage::Usage;

text_enum! {
    #[derive(utoipa::ToSchema)]
    pub enum TurnStatus {
        Queued = "queued",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl TurnStatus {
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

text_enum! {
    /// Which of the configured models a turn uses.
    #[derive(Default, utoipa::ToSchema)]
    pub enum ModelTier {
        #[default]
        Standard = "standard",
        Advanced = "advanced",
    }
}

text_enum! {
    /// Whether the model should reason at length before it responds.
    #[derive(Default, utoipa::ToSchema)]
    pub enum TurnMode {
        #[default]
        Fast = "fast",
        ExtendedThinking = "extended_thinking",
    }
}

/// The parameters of a turn besides the message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnRequest {
    #[serde(default)]
    pub mode: TurnMode,
    #[serde(default)]
    pub tier: ModelTier,
    /// What the user is looking at, for example `url` and `content` of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// What the turn, and everything it delegates, may use.
    #[serde(default, skip_serializing_if = "Permissions::is_unlimited")]
    pub permissions: Permissions,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub id: TurnId,
    pub session_id: SessionId,
    pub user_id: Option<UserId>,
    pub status: TurnStatus,
    /// The id of the assistant message that this turn streams; the same in every attempt and replay.
    pub message_id: MessageId,
    pub request: TurnRequest,
    /// Incremented by every claim; a write with an older fence changes nothing.
    pub fence: u64,
    /// Claims that did not end in a result or an orderly hand-back, including the current one.
    pub attempt: u32,
    /// Whether it has a concurrency permit; otherwise it waits for one.
    pub admitted: bool,
    /// It waits for other work and has released its concurrency permit meanwhile.
    pub aside: bool,
    /// The turn whose tool call started this one (a turn of a sub-session, or an operation).
    pub parent: Option<TurnId>,
    /// The operation that it carries out, if it does not answer a message.
    pub operation: Option<OperationRef>,
    pub cancel_requested: bool,
    pub error: Option<TurnError>,
    pub usage: Usage,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// The operation of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRef {
    pub id: OperationId,
    pub call_id: CallId,
    pub tool_name: String,
}

/// The right to act for a turn. It becomes invalid when the turn is claimed again.
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
    ($($(#[$doc:meta])* $name:ident = $code:tt, retry $retry:literal;)*) => {
        text_enum! {
            #[derive(Hash, utoipa::ToSchema)]
            pub enum FailureCode {
                $($(#[$doc])* $name = $code,)*
            }
        }

        impl FailureCode {
            /// Whether sending the same message again may succeed.
            pub fn worth_retrying(self) -> bool {
                match self { $(Self::$name => $retry,)* }
            }
        }
    };
}

failure_codes! {
    /// The model stopped responding.
    IdleTimeout = "idle_timeout", retry true;
    /// The provider could not be reached or is overloaded, even after retries.
    TransientApiError = "transient_api_error", retry true;
    /// The provider rejected the API key.
    ProviderAuth = "provider_auth", retry false;
    /// The provider declined the request or its content.
    ProviderRefused = "provider_refused", retry false;
    /// The provider's response violates its protocol.
    ProviderProtocol = "provider_protocol", retry true;
    /// The history is longer than the model's context.
    ContextTooLong = "context_too_long", retry false;
    /// The model ended without text and without a tool call.
    EmptyCompletion = "empty_completion", retry true;
    /// Three workers crashed while running this turn.
    CrashLoop = "crash_loop", retry true;
    MaxSteps = "max_turns_exhausted", retry false;
    MaxToolCalls = "max_tool_calls_exhausted", retry false;
    MaxTokens = "max_tokens_exhausted", retry false;
    MaxCost = "max_budget_exhausted", retry false;
    MaxTime = "max_time_exhausted", retry false;
    /// The same call failed the same way repeatedly.
    RepeatedFailures = "circuit_breaker_repeated_failures", retry false;
    /// Repeated tool calls without arguments.
    EmptyToolCalls = "circuit_breaker_empty_tool_calls", retry false;
    /// The disk is full.
    StorageFull = "storage_full", retry true;
    /// An internal error.
    Internal = "internal_error", retry true;
}

impl TurnError {
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
