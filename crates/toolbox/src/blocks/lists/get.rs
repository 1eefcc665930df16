//! One item of a list.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::out_of_range;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, outputs};
use crate::values::place;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The list to take from.
    list: Vec<Value>,
    /// The place of the item, counted from 0, or from the end when negative.
    index: i64,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "262ca24c-1025-43cf-a578-534e23234e97",
        name: "GetListItemBlock",
        description: "Gives the item at a place of a list.",
        categories: &[BlockCategory::Basic],
    };
    let item = |index: i64, item: Value| {
        BlockExample::exactly(json!({ "list": [1, 2, 3], "index": index }), vec![("item", item)])
    };
    let spec = about.spec::<Input>(outputs([any("item", "The item at that place.")]));
    pure(spec, run, vec![item(1, json!(2)), item(-1, json!(3))])
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let mut list = input.list;
    let place = place(input.index, list.len());
    let place = place.ok_or_else(|| out_of_range(input.index, list.len()))?;
    Ok(vec![("item", list.swap_remove(place))])
}
