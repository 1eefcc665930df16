//! `TextSplitBlock`: splits a text at a delimiter.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct SplitTextInput {
    /// The text to split.
    text: String,
    /// The text that separates the parts.
    delimiter: String,
    /// Trim whitespace around each part.
    #[serde(default = "yes")]
    strip: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "d5ea33c8-a575-477a-b42f-2fe3be5055ec",
        "TextSplitBlock",
        "Splits a text into a list of parts at each delimiter.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([pin::list("texts", "The parts, in order.")]);
    let parts = |input: Value, parts: Value| BlockExample::exactly(input, vec![("texts", parts)]);
    let examples = vec![
        parts(json!({ "text": "a, b", "delimiter": "," }), json!(["a", "b"])),
        parts(json!({ "text": "a, b", "delimiter": ",", "strip": false }), json!(["a", " b"])),
        parts(json!({ "text": "", "delimiter": "," }), json!([])),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: SplitTextInput) -> Result<PinValues, BlockError> {
    if input.delimiter.is_empty() {
        return Err(BlockError::failed("The delimiter must not be empty."));
    }
    if input.text.is_empty() {
        return Ok(vec![("texts", json!([]))]);
    }
    let parts = input.text.split(&input.delimiter);
    let texts: Value = if input.strip { parts.map(str::trim).collect() } else { parts.collect() };
    Ok(vec![("texts", texts)])
}
