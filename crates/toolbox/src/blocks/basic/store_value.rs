//! `StoreValueBlock`: holds a value that downstream nodes can read every time they run.

use crate::blocks::prelude::*;
use crate::values::is_true;

#[derive(Deserialize, JsonSchema)]
struct StoreValueInput {
    /// Triggers the block. Also the stored value, unless `data` is set.
    input: Value,
    /// A constant to store instead of the input.
    #[serde(default)]
    data: Value,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "1ff065e9-88e8-4358-9d82-8dc91f622ba9",
        "StoreValueBlock",
        "Stores a value so that downstream blocks can reuse it each time they run.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::any("output", "The stored value.")])
    .static_output();

    let examples = vec![
        BlockExample::exactly(json!({ "input": "a word" }), vec![("output", json!("a word"))]),
        BlockExample::exactly(json!({ "input": 1, "data": [2] }), vec![("output", json!([2]))]),
        BlockExample::exactly(json!({ "input": 1, "data": "" }), vec![("output", json!(1))]),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: StoreValueInput) -> Result<PinValues, BlockError> {
    let stored = if is_true(&input.data) { input.data } else { input.input };
    Ok(vec![("output", stored)])
}
