//! A note for those who read the graph.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{outputs, text};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What the note says.
    text: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "cc10ff7b-7753-4ff2-9af6-9399b1a7eddc",
        name: "NoteBlock",
        description: "Puts a note beside the other blocks, for people who read the graph.",
        categories: &[BlockCategory::Basic],
    };
    let spec = about.spec::<Input>(outputs([text("output", "What the note says.")]));
    let example = BlockExample::exactly(
        json!({ "text": "Runs every morning." }),
        vec![("output", json!("Runs every morning."))],
    );
    pure(BlockSpec { kind: BlockKind::Note, ..spec }, run, vec![example])
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    Ok(vec![("output", input.text.into())])
}
