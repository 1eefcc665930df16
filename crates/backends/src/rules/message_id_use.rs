//! What a client's message id is already used for.

use ports::store::{FollowUpPushed, TurnOpened};
use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::turn::Turn;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MessageIdUse {
    /// The message is new.
    Free,
    /// Used by a follow-up that was returned to its sender or dropped. It may be reused after that follow-up is
    /// removed.
    Returned,
    /// The same message, in a turn.
    Turn(Box<Turn>),
    /// The same message, as a follow-up.
    FollowUp(Box<FollowUp>),
    /// Used for another text, or for a row whose id no client chose.
    Reused,
}

impl MessageIdUse {
    /// The reply to a message that would open a turn; `None` when the id may be used for it.
    pub(crate) fn reply_to_submission(self) -> Option<TurnOpened> {
        match self {
            Self::Free | Self::Returned => None,
            Self::Turn(turn) => Some(TurnOpened::Joined(turn)),
            Self::FollowUp(follow_up) => Some(TurnOpened::FollowUp(follow_up)),
            Self::Reused => Some(TurnOpened::Reused),
        }
    }

    /// The same for a message to the running turn.
    pub(crate) fn reply_to_follow_up(self) -> Option<FollowUpPushed> {
        match self {
            Self::Free | Self::Returned => None,
            Self::FollowUp(follow_up) => Some(FollowUpPushed::Known(follow_up)),
            Self::Turn(_) | Self::Reused => Some(FollowUpPushed::Reused),
        }
    }
}

/// `stored` and `given` are fingerprints of the message.
pub(crate) fn used_by_turn(turn: Turn, stored: Option<&str>, given: Option<&str>) -> MessageIdUse {
    if stored == given { MessageIdUse::Turn(Box::new(turn)) } else { MessageIdUse::Reused }
}

pub(crate) fn used_by_follow_up(
    follow_up: FollowUp,
    stored: Option<&str>,
    given: Option<&str>,
) -> MessageIdUse {
    match follow_up.state {
        _ if stored != given => MessageIdUse::Reused,
        FollowUpState::Pending | FollowUpState::Delivered => {
            MessageIdUse::FollowUp(Box::new(follow_up))
        }
        FollowUpState::Returned | FollowUpState::Dropped => MessageIdUse::Returned,
    }
}
