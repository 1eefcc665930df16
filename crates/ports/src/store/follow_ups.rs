//! Follow-ups: messages sent while a turn runs, and their states.

use async_trait::async_trait;
use protocol::SessionId;
use protocol::follow_up::FollowUp;
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::turn::TurnClaim;

use super::Fenced;
use crate::error::PortResult;

/// Laws: a follow-up belongs to the first open turn of its session (`a_follow_up_waits_for_the_running_turn`), which
/// must exist (`without_a_turn_there_is_no_follow_up`); one id creates one follow-up (`one_id_makes_one_follow_up`),
/// also after it was delivered, while a returned one may be sent again (`a_returned_follow_up_can_be_sent_again`); at
/// most `limits::FOLLOW_UPS` wait (`pending_follow_ups_are_limited`); draining turns them into messages in order
/// (`drained_follow_ups_become_messages_in_order`), each once (`a_follow_up_is_drained_once`); a turn cannot complete
/// while one waits (`a_turn_does_not_complete_with_pending_follow_ups`); a cancel drops them and a failure returns them
/// (`the_end_of_a_turn_settles_its_follow_ups`). A turn that is being canceled accepts none
/// (`a_cancelled_turn_takes_no_follow_up`). An id identifies one message, sent as a follow-up or as a turn
/// (`a_client_id_is_shared_by_turns_and_follow_ups`), visible to its owner only
/// (`follow_ups_are_seen_by_their_owner_only`).
#[async_trait]
pub trait FollowUps: Send + Sync {
    async fn push(
        &self,
        owner: &Owner,
        session: &SessionId,
        new: NewFollowUp,
    ) -> PortResult<FollowUpPushed>;

    /// The newest of the session, at most `limit`, in the order they were sent, in any state. `None` when the owner has no such
    /// session.
    async fn list(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
    ) -> PortResult<Option<Vec<FollowUp>>>;

    /// Moves the waiting follow-ups of this turn into the history as user messages, and returns them. `step` is the next step
    /// of the model.
    async fn drain(&self, claim: &TurnClaim, step: u32) -> PortResult<Fenced<Vec<FollowUp>>>;
}

#[derive(Clone, Debug)]
pub struct NewFollowUp {
    pub message: NewMessage,
    /// The client's id, as in `TurnKind::Submit`; it is also the id of the message.
    pub client_id: Option<String>,
    pub fingerprint: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FollowUpPushed {
    /// It waits; `waiting` is the total number, including this one.
    Waits {
        follow_up: Box<FollowUp>,
        waiting: u32,
    },
    /// This id was sent before.
    Known(Box<FollowUp>),
    /// The id belongs to another text, or to a message that is not a follow-up.
    Reused,
    /// There is no running turn.
    NoTurn,
    Full,
    NoSession,
}
