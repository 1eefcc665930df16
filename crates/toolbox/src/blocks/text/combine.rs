//! `CombineTextsBlock`: joins texts with a delimiter.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocks::pure::{BlockIdentity, PinValues, pure, text_fits};
use crate::blocks::typed::{outputs, text};

#[derive(Deserialize, JsonSchema)]
struct CombineTextsInput {
    /// The texts to join, in order.
    input: Vec<String>,
    /// The text to insert between them. Empty by default.
    #[serde(default)]
    delimiter: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "e30a4d42-7b7d-4e6a-b36e-1f9b8e3b7d85",
        name: "CombineTextsBlock",
        description: "Joins several texts into one, with an optional delimiter between them.",
        categories: &[BlockCategory::Text],
    };
    let examples = vec![
        BlockExample::exactly(
            json!({ "input": ["one", "two"], "delimiter": ", " }),
            vec![("output", json!("one, two"))],
        ),
        BlockExample::exactly(json!({ "input": ["a", "b"] }), vec![("output", json!("ab"))]),
    ];
    let spec = identity.spec::<CombineTextsInput>(outputs([text("output", "The joined text.")]));
    pure(spec, run, examples)
}

fn run(input: CombineTextsInput) -> Result<PinValues, BlockError> {
    let between = input.delimiter.len().saturating_mul(input.input.len());
    text_fits(input.input.iter().map(String::len).sum::<usize>().saturating_add(between))?;
    Ok(vec![("output", input.input.join(&input.delimiter).into())])
}
