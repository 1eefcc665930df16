//! `NoteBlock`: a note in the graph.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{outputs, text};

#[derive(Deserialize, JsonSchema)]
struct NoteInput {
    /// The text of the note.
    text: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "cc10ff7b-7753-4ff2-9af6-9399b1a7eddc",
        name: "NoteBlock",
        description: "Shows a note in the graph, for people who read it.",
        categories: &[BlockCategory::Basic],
    };
    let spec = identity.spec::<NoteInput>(outputs([text("output", "The text of the note.")]));
    let example = BlockExample::exactly(
        json!({ "text": "Runs every morning." }),
        vec![("output", json!("Runs every morning."))],
    );
    pure(BlockSpec { kind: BlockKind::Note, ..spec }, run, vec![example])
}

fn run(input: NoteInput) -> Result<PinValues, BlockError> {
    Ok(vec![("output", input.text.into())])
}
