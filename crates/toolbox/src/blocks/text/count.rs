//! `WordCharacterCountBlock`: counts words and characters.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{integer, outputs};

#[derive(Deserialize, JsonSchema)]
struct WordCountInput {
    /// The text to count.
    text: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "ab2a782d-22cf-4587-8a70-55b59b3f9f90",
        name: "WordCharacterCountBlock",
        description: "Counts the words and characters of a text.",
        categories: &[BlockCategory::Text],
    };
    let example = BlockExample::exactly(
        json!({ "text": "Où est-il ?" }),
        vec![("word_count", json!(3)), ("character_count", json!(11))],
    );
    let spec = identity.spec::<WordCountInput>(outputs([
        integer("word_count", "The number of words."),
        integer("character_count", "The number of characters, including spaces and punctuation."),
    ]));
    pure(spec, run, vec![example])
}

fn run(input: WordCountInput) -> Result<PinValues, BlockError> {
    Ok(vec![
        ("word_count", input.text.split_whitespace().count().into()),
        ("character_count", input.text.chars().count().into()),
    ])
}
