//! A value that is kept for every later run of the blocks behind it.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::{BlockCategory, BlockSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, outputs};
use crate::values::is_true;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Starts the block. It is also what is kept, unless `data` is given.
    input: Value,
    /// A constant to keep.
    #[serde(default)]
    data: Value,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "1ff065e9-88e8-4358-9d82-8dc91f622ba9",
        name: "StoreValueBlock",
        description: "Keeps a value, so that the blocks behind it can use it as often as they run.",
        categories: &[BlockCategory::Basic],
    };
    let spec = about.spec::<Input>(outputs([any("output", "The value that is kept.")]));
    let examples = vec![
        BlockExample::exactly(json!({ "input": "a word" }), vec![("output", json!("a word"))]),
        BlockExample::exactly(json!({ "input": 1, "data": [2] }), vec![("output", json!([2]))]),
        BlockExample::exactly(json!({ "input": 1, "data": "" }), vec![("output", json!(1))]),
    ];
    pure(BlockSpec { static_output: true, ..spec }, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let kept = if is_true(&input.data) { input.data } else { input.input };
    Ok(vec![("output", kept)])
}
