//! How long a text is.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{integer, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The text to count in.
    text: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "ab2a782d-22cf-4587-8a70-55b59b3f9f90",
        name: "WordCharacterCountBlock",
        description: "Counts the words and the letters of a text, spaces included.",
        categories: &[BlockCategory::Text],
    };
    let example = BlockExample::exactly(
        json!({ "text": "Où est-il ?" }),
        vec![("word_count", json!(3)), ("character_count", json!(11))],
    );
    let spec = about.spec::<Input>(outputs([
        integer("word_count", "How many words there are."),
        integer("character_count", "How many letters, signs and spaces there are."),
    ]));
    pure(spec, run, vec![example])
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    Ok(vec![
        ("word_count", input.text.split_whitespace().count().into()),
        ("character_count", input.text.chars().count().into()),
    ])
}
