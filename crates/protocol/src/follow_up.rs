//! Messages that were sent while a turn was at work.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{MessageId, SessionId, TurnId};

/// A message for the turn that was at work when it came. It ends in exactly one state.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowUp {
    /// The id its row in the history has, or would have had.
    pub id: MessageId,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub text: String,
    pub state: FollowUpState,
    /// The step of the turn before which the model was given it.
    pub step: Option<u32>,
    pub created_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FollowUpState {
    /// It waits for the next step.
    Pending,
    /// The model has been given it, and it stands in the history.
    Delivered,
    /// The turn failed before it could be delivered: it is the sender's again.
    Returned,
    /// The turn was cancelled, and it with it.
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
