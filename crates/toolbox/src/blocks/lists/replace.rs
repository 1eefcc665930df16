//! `ReplaceListItemBlock`: replaces the item at an index.

use super::out_of_range;
use crate::blocks::prelude::*;
use crate::values::place;

#[derive(Deserialize, JsonSchema)]
struct ReplaceListItemInput {
    /// The list to change.
    list: Vec<Value>,
    /// The index of the item to replace, starting at 0. Negative values count from the end.
    index: i64,
    /// The new item.
    value: Value,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "fbf62922-bea1-4a3d-8bac-23587f810b38",
        "ReplaceListItemBlock",
        "Replaces the item at an index of a list.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::list("updated_list", "The list with the new item."),
        pin::any("old_item", "The replaced item."),
    ]);
    let example = BlockExample::exactly(
        json!({ "list": ["a", "b"], "index": -1, "value": "c" }),
        vec![("updated_list", json!(["a", "c"])), ("old_item", json!("b"))],
    );
    vec![block(spec, vec![example], Pure(run))]
}

fn run(input: ReplaceListItemInput) -> Result<PinValues, BlockError> {
    let mut list = input.list;
    let index = place(input.index, list.len());
    let index = index.ok_or_else(|| out_of_range(input.index, list.len()))?;
    let old = std::mem::replace(&mut list[index], input.value);
    Ok(vec![("updated_list", list.into()), ("old_item", old)])
}
