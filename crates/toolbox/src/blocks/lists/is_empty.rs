//! `ListIsEmptyBlock`: checks whether a list is empty.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct ListIsEmptyInput {
    /// The list to check.
    list: Vec<Value>,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "896ed73b-27d0-41be-813c-c1c1dc856c03",
        "ListIsEmptyBlock",
        "Checks whether a list is empty.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::boolean("is_empty", "True if the list has no items.")]);
    let examples = vec![
        BlockExample::exactly(json!({ "list": [] }), vec![("is_empty", json!(true))]),
        BlockExample::exactly(json!({ "list": [null] }), vec![("is_empty", json!(false))]),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: ListIsEmptyInput) -> Result<PinValues, BlockError> {
    Ok(vec![("is_empty", input.list.is_empty().into())])
}
