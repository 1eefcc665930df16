//! Follow-ups: messages sent while a turn runs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{MessageId, SessionId, TurnId};

/// A message for the turn that was running when it was sent. It ends in exactly one state.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowUp {
    /// The id of its message in the history, once delivered.
    pub id: MessageId,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub text: String,
    pub state: FollowUpState,
    /// The step of the turn before which it was delivered to the model.
    pub step: Option<u32>,
    pub created_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FollowUpState {
    /// Waiting for the next step.
    Pending,
    /// Delivered to the model, and in the history.
    Delivered,
    /// The turn failed before it could be delivered; the sender can send it again.
    Returned,
    /// The turn was canceled before it could be delivered.
    Dropped,
}

impl FollowUpState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Returned => "returned",
            Self::Dropped => "dropped",
        }
    }
}
