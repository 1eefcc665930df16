//! Waiting at the prompt, for the person and for the session: it may begin to speak by itself, when something that was
//! started earlier has ended.

use std::time::Duration;

use super::follow::Follower;
use super::keyboard::Input;
use super::message::Message;

/// How often it is looked whether the session speaks.
const LOOK_EVERY: Duration = Duration::from_secs(2);

pub(super) enum AtPrompt {
    Say(Message),
    /// A turn that was not shown yet is there to be shown.
    Spoken,
    Leave,
}

impl Follower<'_> {
    pub(super) async fn at_prompt(&mut self) -> AtPrompt {
        self.screen.prompt();
        if let Some(kept) = self.kept.take() {
            self.screen.typed(&kept.text);
            return AtPrompt::Say(kept);
        }
        loop {
            tokio::select! {
                input = self.keyboard.next() => match input {
                    Input::Line(text) => {
                        self.screen.entered();
                        if let Some(message) = Message::typed(text) {
                            return AtPrompt::Say(message);
                        }
                        self.screen.prompt();
                    }
                    Input::Interrupt | Input::End => return AtPrompt::Leave,
                },
                () = tokio::time::sleep(LOOK_EVERY) => {
                    if self.has_spoken().await {
                        return AtPrompt::Spoken;
                    }
                }
            }
        }
    }

    /// A server that does not answer is no news.
    async fn has_spoken(&self) -> bool {
        let newest = self.api.newest_turn(&self.session).await.ok().flatten();
        newest.is_some() && newest != self.shown
    }
}
