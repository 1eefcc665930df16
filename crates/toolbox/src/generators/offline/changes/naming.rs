//! Changes of an agent's name and description.

use super::spec_change::SpecChange;
use super::{Changed, Obstacle};
use crate::words::{Words, quoted};

const MAX_NAME_CHARS: usize = 100;

/// "Rename it to X", "call it X", "change the name to X".
pub(crate) fn rename(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let after = words.after(&[
        "rename it to",
        "rename the agent to",
        "rename this agent to",
        "rename to",
        "rename it",
        "call it",
        "call the agent",
        "name it",
        "name the agent",
        "name to",
        "title to",
        "new name is",
        "name should be",
    ])?;
    let name = written(change.text, words, after);
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
        let reason = format!("A name has 1 to {MAX_NAME_CHARS} characters.");
        return Some(Err(Obstacle::Impossible(reason)));
    }
    change.spec.name = name;
    Some(Ok(()))
}

/// "Change the description to X", "describe it as X".
pub(crate) fn describe(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let after = words.after(&[
        "description to",
        "description should be",
        "describe it as",
        "description is",
    ])?;
    let description = written(change.text, words, after);
    if description.is_empty() {
        return None;
    }
    change.spec.description = description;
    Some(Ok(()))
}

/// The quoted text, or everything from a word on.
fn written(text: &str, words: &Words<'_>, from: usize) -> String {
    let rest = words.span(from, words.len());
    match quoted(text).first() {
        Some(quoted) => (*quoted).trim().to_owned(),
        None => rest.trim().to_owned(),
    }
}
