//! Lines that are typed while a turn is at work: they are sent to it, and what cannot be sent is kept for the next
//! prompt.

use protocol::Chunk;
use protocol::follow_up::FollowUpState;

use super::super::client::Failure;
use super::follow::Follower;
use super::message::Message;

impl Follower<'_> {
    pub(super) async fn follow_up(&mut self, text: String) {
        let Some(message) = Message::typed(text) else { return };
        match self.api.send_follow_up(&self.session, &message.text, &message.id).await {
            Ok(()) => {
                self.screen.note_with("queued", &message.text);
                self.queued.push(message);
                return;
            }
            // The turn has just ended: this is simply the next message.
            Err(Failure::Refused { status: 409, .. }) => {}
            Err(Failure::Refused { detail, .. }) => self.screen.complain(&detail),
            Err(Failure::Unreachable) => self.screen.complain("The server does not answer."),
        }
        self.screen.note_with("kept for the next prompt", &message.text);
        self.kept = Some(message);
    }

    /// The stream itself says what has reached the model.
    pub(super) fn forget_delivered(&mut self, chunk: &Chunk) {
        let Chunk::DataPendingDrained { data } = chunk else { return };
        self.queued.retain(|queued| !data.messages.iter().any(|taken| taken.id == queued.id));
    }

    /// Says what became of those that the stream did not mention.
    pub(super) async fn settle_queued(&mut self) {
        let queued = std::mem::take(&mut self.queued);
        if queued.is_empty() {
            return;
        }
        let known = self.api.follow_ups(&self.session).await.unwrap_or_default();
        for Message { text, id } in queued {
            match known.iter().find(|one| one.id == id).map(|one| one.state) {
                Some(FollowUpState::Delivered) => self.screen.note_with("taken up", &text),
                _ => self.screen.note_with("not delivered", &text),
            }
        }
    }
}
