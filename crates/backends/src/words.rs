//! Enums as the words that stand for them in a column.

use protocol::follow_up::FollowUpState;
use protocol::message::{Outcome, Role};
use protocol::operation::OperationState;
use protocol::review::ReviewStatus;
use protocol::tool::Effect;
use protocol::turn::{FailureCode, TurnStatus};

const ROLES: [Role; 4] = [Role::User, Role::Assistant, Role::Tool, Role::System];
const STATUSES: [TurnStatus; 5] = [
    TurnStatus::Queued,
    TurnStatus::Running,
    TurnStatus::Completed,
    TurnStatus::Failed,
    TurnStatus::Cancelled,
];
const OUTCOMES: [Outcome; 5] =
    [Outcome::Ok, Outcome::Error, Outcome::Denied, Outcome::Cancelled, Outcome::Interrupted];
const EFFECTS: [Effect; 3] = [Effect::None, Effect::Idempotent, Effect::Once];
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

/// What a call is told to have come to when its turn ends before it does.
pub(crate) const ENDED_WITH_ITS_TURN: &str = r#"{"type":"error","error":"cancelled","message":"The call was still running when its turn ended, and was cancelled."}"#;

pub(crate) fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Error => "error",
        Outcome::Denied => "denied",
        Outcome::Cancelled => "cancelled",
        Outcome::Interrupted => "interrupted",
    }
}

pub(crate) fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::None => "none",
        Effect::Idempotent => "idempotent",
        Effect::Once => "once",
    }
}

pub(crate) fn review_status_word(status: ReviewStatus) -> &'static str {
    match status {
        ReviewStatus::Waiting => "WAITING",
        ReviewStatus::Approved => "APPROVED",
        ReviewStatus::Rejected => "REJECTED",
    }
}

pub(crate) fn role(word: &str) -> Option<Role> {
    ROLES.into_iter().find(|role| role.as_str() == word)
}

pub(crate) fn status(word: &str) -> Option<TurnStatus> {
    STATUSES.into_iter().find(|status| status.as_str() == word)
}

pub(crate) fn outcome(word: &str) -> Option<Outcome> {
    OUTCOMES.into_iter().find(|outcome| outcome_word(*outcome) == word)
}

pub(crate) fn effect(word: &str) -> Option<Effect> {
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
