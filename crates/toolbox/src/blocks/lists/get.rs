//! `GetListItemBlock`: gets the item at an index.

use super::out_of_range;
use crate::blocks::prelude::*;
use crate::values::place;

#[derive(Deserialize, JsonSchema)]
struct GetListItemInput {
    /// The list to read.
    list: Vec<Value>,
    /// The index of the item, starting at 0. Negative values count from the end.
    index: i64,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "262ca24c-1025-43cf-a578-534e23234e97",
        "GetListItemBlock",
        "Gets the item at an index of a list.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::any("item", "The item at the index.")]);
    let item = |index: i64, item: Value| {
        BlockExample::exactly(json!({ "list": [1, 2, 3], "index": index }), vec![("item", item)])
    };
    vec![block(spec, vec![item(1, json!(2)), item(-1, json!(3))], Pure(run))]
}

fn run(input: GetListItemInput) -> Result<PinValues, BlockError> {
    let mut list = input.list;
    let index = place(input.index, list.len());
    let index = index.ok_or_else(|| out_of_range(input.index, list.len()))?;
    Ok(vec![("item", list.swap_remove(index))])
}
