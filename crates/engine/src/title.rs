//! Titles a session after its first answer. It never replaces a title that a user set.

use std::sync::Arc;
use std::time::Duration;

use ports::store::TitleChange;
use protocol::session::Owner;
use protocol::turn::Turn;

use crate::EngineInner;
use crate::tasks::TaskKind;

const MODEL_TIMEOUT: Duration = Duration::from_secs(15);
const MAX_WORDS: usize = 6;
const MAX_CHARS: usize = 50;

/// Asks the model in a background task; falls back to the first words of the message.
pub(crate) fn request_title(inner: &Arc<EngineInner>, turn: &Turn, message: String) {
    let owner = turn.user_id.clone().map_or(Owner::Anonymous, Owner::User);
    let session = turn.session_id.clone();
    let work = inner.clone();
    inner.tasks.spawn(TaskKind::Title, async move {
        let asked = tokio::select! {
            biased;
            () = work.shutdown_signal.stopping() => None,
            asked = tokio::time::timeout(MODEL_TIMEOUT, work.model.title(&message)) => {
                asked.ok().and_then(Result::ok).flatten()
            }
        };
        let title = asked.map(|words| shorten(&words)).filter(|title| !title.is_empty());
        let title = TitleChange::Generated(title.unwrap_or_else(|| shorten(&message)));
        if let Err(error) = work.ports.sessions.set_title(&owner, &session, title).await {
            tracing::warn!(session.id = %session, %error, "could not store a title");
        }
    });
}

pub(crate) fn shorten(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MAX_WORDS).collect();
    protocol::text::cut_end(&protocol::text::without_nul(&words.join(" ")), MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn a_title_is_the_first_words_on_one_line() {
        assert_eq!(shorten("  Plan\nmy trip to the south of France "), "Plan my trip to the south");
        assert_eq!(shorten(&"x".repeat(80)).chars().count(), 51);
    }
}
