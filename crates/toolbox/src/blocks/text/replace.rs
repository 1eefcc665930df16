//! A text in which something gives way to something else.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocks::pure::{About, Outputs, pure, text_fits};
use crate::blocks::typed::{outputs, text};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The text to change.
    text: String,
    /// What gives way, wherever it stands.
    old: String,
    /// What comes in its place.
    new: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "7e7c87ab-3469-4bcc-9abe-67705091b713",
        name: "TextReplaceBlock",
        description: "Replaces a part of a text by another, wherever it stands.",
        categories: &[BlockCategory::Text],
    };
    let example = BlockExample::exactly(
        json!({ "text": "one and one", "old": "one", "new": "two" }),
        vec![("output", json!("two and two"))],
    );
    let spec = about.spec::<Input>(outputs([text("output", "The changed text.")]));
    pure(spec, run, vec![example])
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let Input { text, old, new } = input;
    let growth = new.len().saturating_sub(old.len());
    if growth > 0 {
        let times = text.matches(&old).count();
        text_fits(text.len().saturating_add(times.saturating_mul(growth)))?;
    }
    Ok(vec![("output", text.replace(&old, &new).into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_does_not_grow_without_bound() {
        let text = "a".repeat(100_000);
        let grown = Input { text: text.clone(), old: String::new(), new: text };
        assert!(run(grown).is_err());
    }
}
