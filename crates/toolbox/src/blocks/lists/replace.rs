//! `ReplaceListItemBlock`: replaces the item at an index.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::out_of_range;
use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{any, list, outputs};
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

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "fbf62922-bea1-4a3d-8bac-23587f810b38",
        name: "ReplaceListItemBlock",
        description: "Replaces the item at an index of a list.",
        categories: &[BlockCategory::Basic],
    };
    let example = BlockExample::exactly(
        json!({ "list": ["a", "b"], "index": -1, "value": "c" }),
        vec![("updated_list", json!(["a", "c"])), ("old_item", json!("b"))],
    );
    let spec = identity.spec::<ReplaceListItemInput>(outputs([
        list("updated_list", "The list with the new item."),
        any("old_item", "The replaced item."),
    ]));
    pure(spec, run, vec![example])
}

fn run(input: ReplaceListItemInput) -> Result<PinValues, BlockError> {
    let mut list = input.list;
    let index = place(input.index, list.len());
    let index = index.ok_or_else(|| out_of_range(input.index, list.len()))?;
    let old = std::mem::replace(&mut list[index], input.value);
    Ok(vec![("updated_list", list.into()), ("old_item", old)])
}
