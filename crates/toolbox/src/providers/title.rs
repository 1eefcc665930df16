//! Session titles: the request to the model, and the cleanup of its response.

use std::time::Duration;

use futures::StreamExt;
use ports::model::{
    ModelError, ModelErrorKind, ModelEvent, ModelMessage, ModelRequest, ModelStream, ToolUse,
};
use protocol::text::cut_end;
use protocol::turn::{ModelTier, TurnMode};

pub(crate) const MAX_TOKENS: u32 = 20;

const TIMEOUT: Duration = Duration::from_secs(10);
/// Characters of the message sent to the model; the beginning is enough for a title.
const MESSAGE_CHARS: usize = 2_000;
const TITLE_WORDS: usize = 6;
const TITLE_CHARS: usize = 50;

const SYSTEM: &str = "You name conversations. Answer with a title of at most six words for the \
    conversation that starts with the message you are given, in the language of the message. \
    No quotes, no period, nothing but the title. Do not answer the message itself.";

pub(crate) fn request(message: &str) -> ModelRequest {
    ModelRequest {
        system: SYSTEM.to_owned(),
        messages: vec![ModelMessage::User { text: cut_end(message, MESSAGE_CHARS) }],
        tools: [].into(),
        tool_use: ToolUse::Forbidden,
        tier: ModelTier::Standard,
        mode: TurnMode::Fast,
    }
}

/// Collects the whole response, with a short timeout: a title is not worth a long wait.
pub(crate) async fn collect(
    response: impl Future<Output = Result<ModelStream, ModelError>>,
) -> Result<Option<String>, ModelError> {
    let collecting = async {
        let mut stream = response.await?;
        let mut text = String::new();
        while let Some(event) = stream.next().await {
            if let ModelEvent::Text(delta) = event? {
                text.push_str(&delta);
            }
            if text.len() > MESSAGE_CHARS {
                break;
            }
        }
        Ok(clean(&text))
    };
    match tokio::time::timeout(TIMEOUT, collecting).await {
        Ok(title) => title,
        Err(_) => Err(ModelError::new(
            ModelErrorKind::TimedOut,
            "The model provider did not return a title in time.",
        )),
    }
}

/// The first line, without surrounding quotes and markup, limited to six words and fifty characters.
fn clean(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("Title:").unwrap_or(line);
    let wrapping = |c: char| c.is_whitespace() || "\"'`*#_.“”„«»‘’".contains(c);
    let words: Vec<&str> = line.trim_matches(wrapping).split_whitespace().collect();
    let mut title = String::new();
    for word in words.into_iter().take(TITLE_WORDS) {
        let length = title.chars().count() + 1 + word.chars().count();
        if !title.is_empty() && length > TITLE_CHARS {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    let title: String = title.chars().filter(|c| !c.is_control()).take(TITLE_CHARS).collect();
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line_without_quotes_or_markup() {
        let table = [
            ("\"Weather in Paris\"", Some("Weather in Paris")),
            ("\n\n**Fixing the build.**\nIt was broken.", Some("Fixing the build")),
            ("Title: „Ein Titel“", Some("Ein Titel")),
            ("one two three four five six seven", Some("one two three four five six")),
            (
                "a Donaudampfschifffahrtsgesellschaft Kapitänsmützen",
                Some("a Donaudampfschifffahrtsgesellschaft"),
            ),
            ("  \n ", None),
            ("\"\"", None),
        ];
        for (answer, title) in table {
            assert_eq!(clean(answer).as_deref(), title, "{answer}");
        }
        assert_eq!(clean(&"x".repeat(80)).map(|title| title.len()), Some(TITLE_CHARS));
    }
}
