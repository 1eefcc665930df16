//! Lines typed while a turn runs: sent to it as follow-ups, or kept for the next prompt if that is not possible.

use protocol::Chunk;
use protocol::follow_up::FollowUpState;

use super::follow::TurnFollower;
use super::message::TypedMessage;
use crate::cli::client::ClientError;

impl TurnFollower<'_> {
    pub(crate) async fn follow_up(&mut self, text: String) {
        let Some(message) = TypedMessage::new(text) else { return };
        match self.api.send_follow_up(&self.session, &message.text, &message.id).await {
            Ok(()) => {
                self.screen.note_with("queued", &message.text);
                self.queued.push(message);
                return;
            }
            // The turn has just ended: this becomes the next message.
            Err(ClientError::Refused { status: 409, .. }) => {}
            Err(ClientError::Refused { detail, .. }) => self.screen.complain(&detail),
            Err(ClientError::Unreachable) => self.screen.complain("The server does not respond."),
        }
        self.screen.note_with("kept for the next prompt", &message.text);
        self.kept = Some(message);
    }

    /// Removes follow-ups that the stream reports as delivered.
    pub(crate) fn forget_delivered(&mut self, chunk: &Chunk) {
        let Chunk::DataPendingDrained { data } = chunk else { return };
        self.queued
            .retain(|queued| !data.messages.iter().any(|delivered| delivered.id == queued.id));
    }

    /// Shows the state of the follow-ups that the stream did not mention.
    pub(crate) async fn settle_queued(&mut self) {
        let queued = std::mem::take(&mut self.queued);
        if queued.is_empty() {
            return;
        }
        let known = self.api.follow_ups(&self.session).await.unwrap_or_default();
        for TypedMessage { text, id } in queued {
            match known.iter().find(|one| one.id == id).map(|one| one.state) {
                Some(FollowUpState::Delivered) => self.screen.note_with("delivered", &text),
                _ => self.screen.note_with("not delivered", &text),
            }
        }
    }
}
