//! Follow-ups: messages sent while a turn runs.

use jiff::Timestamp;

use crate::ids::{MessageId, SessionId, TurnId};
use crate::text_enum::text_enum;

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

text_enum! {
    #[derive(utoipa::ToSchema)]
    pub enum FollowUpState {
        /// Waiting for the next step.
        Pending = "pending",
        /// Delivered to the model, and in the history.
        Delivered = "delivered",
        /// The turn failed before it could be delivered; the sender can send it again.
        Returned = "returned",
        /// The turn was canceled before it could be delivered.
        Dropped = "dropped",
    }
}
