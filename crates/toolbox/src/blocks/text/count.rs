//! `WordCharacterCountBlock`: counts words and characters.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct WordCountInput {
    /// The text to count.
    text: String,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "ab2a782d-22cf-4587-8a70-55b59b3f9f90",
        "WordCharacterCountBlock",
        "Counts the words and characters of a text.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([
        pin::integer("word_count", "The number of words."),
        pin::integer(
            "character_count",
            "The number of characters, including spaces and punctuation.",
        ),
    ]);
    let example = BlockExample::exactly(
        json!({ "text": "Où est-il ?" }),
        vec![("word_count", json!(3)), ("character_count", json!(11))],
    );
    vec![block(spec, vec![example], Pure(run))]
}

fn run(input: WordCountInput) -> Result<PinValues, BlockError> {
    Ok(vec![
        ("word_count", input.text.split_whitespace().count().into()),
        ("character_count", input.text.chars().count().into()),
    ])
}
