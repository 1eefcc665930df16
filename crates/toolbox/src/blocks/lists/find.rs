//! `FindInListBlock`: finds the index of a value in a list.

use crate::blocks::comparison::equal;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct FindInListInput {
    /// The list to search.
    list: Vec<Value>,
    /// The value to find.
    value: Value,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "5e2c6d0a-1e37-489f-b1d0-8e1812b23333",
        "FindInListBlock",
        "Finds the index of the first occurrence of a value in a list.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::integer("index", "The index of the value, starting at 0."),
        pin::boolean("found", "Whether the value is in the list."),
        pin::any("not_found_value", "The value, if it is not in the list."),
    ]);
    let examples = vec![
        BlockExample::exactly(
            json!({ "list": [1, { "a": 2 }, 3], "value": { "a": 2 } }),
            vec![("index", json!(1)), ("found", json!(true))],
        ),
        BlockExample::exactly(
            json!({ "list": [1, 2], "value": 6 }),
            vec![("found", json!(false)), ("not_found_value", json!(6))],
        ),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: FindInListInput) -> Result<PinValues, BlockError> {
    Ok(match input.list.iter().position(|item| equal(item, &input.value)) {
        Some(index) => vec![("index", index.into()), ("found", true.into())],
        None => vec![("found", false.into()), ("not_found_value", input.value)],
    })
}
