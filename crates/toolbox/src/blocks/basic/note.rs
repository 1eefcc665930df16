//! `NoteBlock`: a note in the graph.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct NoteInput {
    /// The text of the note.
    text: String,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "cc10ff7b-7753-4ff2-9af6-9399b1a7eddc",
        "NoteBlock",
        "Shows a note in the graph, for people who read it.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::text("output", "The text of the note.")])
    .kind(BlockKind::Note);

    let example = BlockExample::exactly(
        json!({ "text": "Runs every morning." }),
        vec![("output", json!("Runs every morning."))],
    );
    vec![block(spec, vec![example], Pure(run))]
}

fn run(input: NoteInput) -> Result<PinValues, BlockError> {
    Ok(vec![("output", input.text.into())])
}
