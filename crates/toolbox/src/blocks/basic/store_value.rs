//! `StoreValueBlock`: holds a value that downstream nodes can read every time they run.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::{BlockCategory, BlockSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{any, outputs};
use crate::values::is_true;

#[derive(Deserialize, JsonSchema)]
struct StoreValueInput {
    /// Triggers the block. Also the stored value, unless `data` is set.
    input: Value,
    /// A constant to store instead of the input.
    #[serde(default)]
    data: Value,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "1ff065e9-88e8-4358-9d82-8dc91f622ba9",
        name: "StoreValueBlock",
        description: "Stores a value so that downstream blocks can reuse it each time they run.",
        categories: &[BlockCategory::Basic],
    };
    let spec = identity.spec::<StoreValueInput>(outputs([any("output", "The stored value.")]));
    let examples = vec![
        BlockExample::exactly(json!({ "input": "a word" }), vec![("output", json!("a word"))]),
        BlockExample::exactly(json!({ "input": 1, "data": [2] }), vec![("output", json!([2]))]),
        BlockExample::exactly(json!({ "input": 1, "data": "" }), vec![("output", json!(1))]),
    ];
    pure(BlockSpec { static_output: true, ..spec }, run, examples)
}

fn run(input: StoreValueInput) -> Result<PinValues, BlockError> {
    let stored = if is_true(&input.data) { input.data } else { input.input };
    Ok(vec![("output", stored)])
}
