//! `TextReplaceBlock`: replaces every occurrence of a substring.

use crate::blocks::prelude::*;
use crate::blocks::result_limits::text_fits;

#[derive(Deserialize, JsonSchema)]
struct ReplaceTextInput {
    /// The text to edit.
    text: String,
    /// The text to search for.
    old: String,
    /// The text to replace it with.
    new: String,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "7e7c87ab-3469-4bcc-9abe-67705091b713",
        "TextReplaceBlock",
        "Replaces every occurrence of a substring.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([pin::text("output", "The text after replacement.")]);
    let example = BlockExample::exactly(
        json!({ "text": "one and one", "old": "one", "new": "two" }),
        vec![("output", json!("two and two"))],
    );
    vec![block(spec, vec![example], Pure(run))]
}

fn run(input: ReplaceTextInput) -> Result<PinValues, BlockError> {
    let ReplaceTextInput { text, old, new } = input;
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
    fn a_replacement_that_grows_beyond_the_limit_is_rejected() {
        let text = "a".repeat(100_000);
        let grown = ReplaceTextInput { text: text.clone(), old: String::new(), new: text };
        assert!(run(grown).is_err());
    }
}
