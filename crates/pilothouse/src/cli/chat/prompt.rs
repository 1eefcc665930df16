//! Waits at the prompt for a typed line and for new turns of the session, which can start without a message, for example
//! when an operation has completed.

use std::time::Duration;

use super::follow::TurnFollower;
use super::keyboard::KeyboardInput;
use super::message::TypedMessage;

/// How often to check for a new turn.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

pub(crate) enum AtPrompt {
    Send(TypedMessage),
    /// There is a turn that was not shown yet.
    NewTurn,
    Leave,
}

impl TurnFollower<'_> {
    pub(crate) async fn at_prompt(&mut self) -> AtPrompt {
        self.screen.prompt();
        if let Some(kept) = self.kept.take() {
            self.screen.typed(&kept.text);
            return AtPrompt::Send(kept);
        }
        loop {
            tokio::select! {
                input = self.keyboard.next() => match input {
                    KeyboardInput::Line(text) => {
                        self.screen.entered();
                        if let Some(message) = TypedMessage::new(text) {
                            return AtPrompt::Send(message);
                        }
                        self.screen.prompt();
                    }
                    KeyboardInput::Interrupt | KeyboardInput::End => return AtPrompt::Leave,
                },
                () = tokio::time::sleep(POLL_INTERVAL) => {
                    if self.has_new_turn().await {
                        return AtPrompt::NewTurn;
                    }
                }
            }
        }
    }

    /// False if the server does not respond.
    async fn has_new_turn(&self) -> bool {
        let newest = self.api.newest_turn(&self.session).await.ok().flatten();
        newest.is_some() && newest != self.shown
    }
}
