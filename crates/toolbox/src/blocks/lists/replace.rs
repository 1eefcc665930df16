//! An item of a list that gives way to another.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::out_of_range;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, list, outputs};
use crate::values::place;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The list to change.
    list: Vec<Value>,
    /// The place of the item, counted from 0, or from the end when negative.
    index: i64,
    /// The new item.
    value: Value,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "fbf62922-bea1-4a3d-8bac-23587f810b38",
        name: "ReplaceListItemBlock",
        description: "Puts another item at a place of a list.",
        categories: &[BlockCategory::Basic],
    };
    let example = BlockExample::exactly(
        json!({ "list": ["a", "b"], "index": -1, "value": "c" }),
        vec![("updated_list", json!(["a", "c"])), ("old_item", json!("b"))],
    );
    let spec = about.spec::<Input>(outputs([
        list("updated_list", "The list with the new item."),
        any("old_item", "The item that was there before."),
    ]));
    pure(spec, run, vec![example])
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let mut list = input.list;
    let place = place(input.index, list.len());
    let place = place.ok_or_else(|| out_of_range(input.index, list.len()))?;
    let old = std::mem::replace(&mut list[place], input.value);
    Ok(vec![("updated_list", list.into()), ("old_item", old)])
}
