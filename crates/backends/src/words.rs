//! Enum values as text in database columns.

use protocol::follow_up::FollowUpState;
use protocol::message::{MessageRole, ToolOutcome};
use protocol::operation::OperationState;
use protocol::review::ReviewStatus;
use protocol::tool::ToolEffect;
use protocol::turn::{FailureCode, TurnStatus};

const ROLES: [MessageRole; 4] =
    [MessageRole::User, MessageRole::Assistant, MessageRole::Tool, MessageRole::System];
const STATUSES: [TurnStatus; 5] = [
    TurnStatus::Queued,
    TurnStatus::Running,
    TurnStatus::Completed,
    TurnStatus::Failed,
    TurnStatus::Cancelled,
];
const OUTCOMES: [ToolOutcome; 5] = [
    ToolOutcome::Ok,
    ToolOutcome::Error,
    ToolOutcome::Denied,
    ToolOutcome::Cancelled,
    ToolOutcome::Interrupted,
];
const EFFECTS: [ToolEffect; 3] = [ToolEffect::None, ToolEffect::Idempotent, ToolEffect::Once];
const FOLLOW_UP_STATES: [FollowUpState; 4] = [
    FollowUpState::Pending,
    FollowUpState::Delivered,
    FollowUpState::Returned,
    FollowUpState::Dropped,
];
const OPERATION_STATES: [OperationState; 3] =
    [OperationState::Running, OperationState::Accepted, OperationState::Ended];

const REVIEW_STATUSES: [ReviewStatus; 3] =
    [ReviewStatus::Waiting, ReviewStatus::Approved, ReviewStatus::Rejected];

/// Output of a call that is cancelled because its turn ends first.
pub(crate) const ENDED_WITH_ITS_TURN: &str = r#"{"type":"error","error":"cancelled","message":"The call was still running when its turn ended, and was cancelled."}"#;

pub(crate) fn outcome_word(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Ok => "ok",
        ToolOutcome::Error => "error",
        ToolOutcome::Denied => "denied",
        ToolOutcome::Cancelled => "cancelled",
        ToolOutcome::Interrupted => "interrupted",
    }
}

pub(crate) fn effect_word(effect: ToolEffect) -> &'static str {
    match effect {
        ToolEffect::None => "none",
        ToolEffect::Idempotent => "idempotent",
        ToolEffect::Once => "once",
    }
}

pub(crate) fn review_status_word(status: ReviewStatus) -> &'static str {
    match status {
        ReviewStatus::Waiting => "WAITING",
        ReviewStatus::Approved => "APPROVED",
        ReviewStatus::Rejected => "REJECTED",
    }
}

pub(crate) fn role(word: &str) -> Option<MessageRole> {
    ROLES.into_iter().find(|role| role.as_str() == word)
}

pub(crate) fn status(word: &str) -> Option<TurnStatus> {
    STATUSES.into_iter().find(|status| status.as_str() == word)
}

pub(crate) fn outcome(word: &str) -> Option<ToolOutcome> {
    OUTCOMES.into_iter().find(|outcome| outcome_word(*outcome) == word)
}

pub(crate) fn effect(word: &str) -> Option<ToolEffect> {
    EFFECTS.into_iter().find(|effect| effect_word(*effect) == word)
}

pub(crate) fn follow_up_state(word: &str) -> Option<FollowUpState> {
    FOLLOW_UP_STATES.into_iter().find(|state| state.as_str() == word)
}

pub(crate) fn operation_state(word: &str) -> Option<OperationState> {
    OPERATION_STATES.into_iter().find(|state| state.as_str() == word)
}

pub(crate) fn review_status(word: &str) -> Option<ReviewStatus> {
    REVIEW_STATUSES.into_iter().find(|status| review_status_word(*status) == word)
}

pub(crate) fn failure(word: &str) -> Option<FailureCode> {
    FailureCode::ALL.iter().copied().find(|code| code.as_str() == word)
}
