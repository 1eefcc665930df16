//! A text that becomes several.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{list, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The text to divide.
    text: String,
    /// What stands between the parts.
    delimiter: String,
    /// Whether to leave out the space around the parts.
    #[serde(default = "super::yes")]
    strip: bool,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "d5ea33c8-a575-477a-b42f-2fe3be5055ec",
        name: "TextSplitBlock",
        description: "Divides a text into parts wherever a delimiter stands.",
        categories: &[BlockCategory::Text],
    };
    let parts = |input: Value, parts: Value| BlockExample::exactly(input, vec![("texts", parts)]);
    let examples = vec![
        parts(json!({ "text": "a, b", "delimiter": "," }), json!(["a", "b"])),
        parts(json!({ "text": "a, b", "delimiter": ",", "strip": false }), json!(["a", " b"])),
        parts(json!({ "text": "", "delimiter": "," }), json!([])),
    ];
    let spec = about.spec::<Input>(outputs([list("texts", "The parts.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    if input.delimiter.is_empty() {
        return Err(BlockError::failed("The delimiter is empty."));
    }
    if input.text.is_empty() {
        return Ok(vec![("texts", json!([]))]);
    }
    let parts = input.text.split(&input.delimiter);
    let texts: Value = if input.strip { parts.map(str::trim).collect() } else { parts.collect() };
    Ok(vec![("texts", texts)])
}
