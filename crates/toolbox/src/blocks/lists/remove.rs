//! An item that is taken out of a list.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::out_of_range;
use crate::blocks::comparison::equal;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, list, outputs};
use crate::values::place;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The list to take from.
    list: Vec<Value>,
    /// The item to take, wherever it comes first; only if there is no `index`.
    #[serde(default)]
    value: Value,
    /// The place of the item, counted from 0, or from the end when negative.
    #[serde(default)]
    index: Option<i64>,
    /// Whether to give the item too.
    #[serde(default)]
    return_item: bool,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "d93c5a93-ac7e-41c1-ae5c-ef67e6e9b826",
        name: "RemoveFromListBlock",
        description: "Takes an item out of a list, by its value or by its place.",
        categories: &[BlockCategory::Basic],
    };
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
    let spec = about.spec::<Input>(outputs([
        list("updated_list", "The list without the item."),
        any("removed_item", "The item, if it was asked for."),
    ]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let mut list = input.list;
    let place = match (input.index, &input.value) {
        (Some(index), _) => {
            place(index, list.len()).ok_or_else(|| out_of_range(index, list.len()))?
        }
        (None, Value::Null) => {
            return Err(BlockError::failed("Name the item by `index` or by `value`."));
        }
        (None, value) => list
            .iter()
            .position(|item| equal(item, value))
            .ok_or_else(|| BlockError::failed("The value is not in the list."))?,
    };
    let removed = list.remove(place);
    let mut outputs = vec![("updated_list", list.into())];
    if input.return_item {
        outputs.push(("removed_item", removed));
    }
    Ok(outputs)
}
