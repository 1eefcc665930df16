//! What ends with a turn.

use ports::store::TurnEnding;
use protocol::follow_up::FollowUpState;
use protocol::message::ToolOutcome;
use protocol::operation::OperationResult;
use protocol::turn::TurnStatus;

use super::error::CheckError;

/// Output of a call that is cancelled because its turn ends first.
pub(crate) const ENDED_WITH_ITS_TURN: &str = r#"{"type":"error","error":"cancelled","message":"The call was still running when its turn ended, and was cancelled."}"#;

pub(crate) fn check_final(status: TurnStatus) -> Result<(), CheckError> {
    if status.is_final() {
        return Ok(());
    }
    Err(CheckError::new(format!("{} is not a final turn status", status.as_str())))
}

/// The state of the follow-ups that still wait: a cancel drops them, any other end returns them.
pub(crate) fn undelivered_state(status: TurnStatus) -> FollowUpState {
    match status {
        TurnStatus::Cancelled => FollowUpState::Dropped,
        _ => FollowUpState::Returned,
    }
}

/// The result of the turn's operation, if it has none yet. Without one of its own, the operation ends with its turn.
pub(crate) fn operation_result(ending: &TurnEnding) -> OperationResult {
    ending.operation.clone().unwrap_or_else(|| OperationResult {
        output: ENDED_WITH_ITS_TURN.to_owned(),
        outcome: ToolOutcome::Cancelled,
    })
}
