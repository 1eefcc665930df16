//! `RemoveFromListBlock`: removes an item by value or index.

use super::out_of_range;
use crate::blocks::comparison::equal;
use crate::blocks::prelude::*;
use crate::values::place;

#[derive(Deserialize, JsonSchema)]
struct RemoveFromListInput {
    /// The list to change.
    list: Vec<Value>,
    /// The item to remove (its first occurrence). Ignored if `index` is set.
    #[serde(default)]
    value: Value,
    /// The index of the item to remove, starting at 0. Negative values count from the end.
    #[serde(default)]
    index: Option<i64>,
    /// Also output the removed item.
    #[serde(default)]
    return_item: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "d93c5a93-ac7e-41c1-ae5c-ef67e6e9b826",
        "RemoveFromListBlock",
        "Removes an item from a list, by value or by index.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::list("updated_list", "The list without the item."),
        pin::any("removed_item", "The removed item, if `return_item` is on."),
    ]);
    let examples = vec![
        BlockExample::exactly(
            json!({ "list": [1, 2, 3], "index": 1, "return_item": true }),
            vec![("updated_list", json!([1, 3])), ("removed_item", json!(2))],
        ),
        BlockExample::exactly(
            json!({ "list": ["a", "b", "c"], "value": "b" }),
            vec![("updated_list", json!(["a", "c"]))],
        ),
        BlockExample::exactly(
            json!({ "list": [1, 2], "index": -1 }),
            vec![("updated_list", json!([1]))],
        ),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: RemoveFromListInput) -> Result<PinValues, BlockError> {
    let mut list = input.list;
    let index = match (input.index, &input.value) {
        (Some(index), _) => {
            place(index, list.len()).ok_or_else(|| out_of_range(index, list.len()))?
        }
        (None, Value::Null) => {
            return Err(BlockError::failed("Set `index` or `value` to choose the item to remove."));
        }
        (None, value) => list
            .iter()
            .position(|item| equal(item, value))
            .ok_or_else(|| BlockError::failed("The value is not in the list."))?,
    };
    let removed = list.remove(index);
    let mut outputs = vec![("updated_list", list.into())];
    if input.return_item {
        outputs.push(("removed_item", removed));
    }
    Ok(outputs)
}
