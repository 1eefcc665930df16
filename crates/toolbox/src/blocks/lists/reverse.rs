//! `ReverseListOrderBlock`: reverses a list.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct ReverseListInput {
    /// The list to reverse.
    input_list: Vec<Value>,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "422cb708-3109-4277-bfe3-bc2ae5812777",
        "ReverseListOrderBlock",
        "Reverses the order of a list.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::list("reversed_list", "The reversed list.")]);
    let example = BlockExample::exactly(
        json!({ "input_list": [1, "b", 3] }),
        vec![("reversed_list", json!([3, "b", 1]))],
    );
    vec![block(spec, vec![example], Pure(run))]
}

fn run(input: ReverseListInput) -> Result<PinValues, BlockError> {
    let mut list = input.input_list;
    list.reverse();
    Ok(vec![("reversed_list", list.into())])
}
