//! `GetListItemBlock`: gets the item at an index.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::out_of_range;
use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{any, outputs};
use crate::values::place;

#[derive(Deserialize, JsonSchema)]
struct GetListItemInput {
    /// The list to read.
    list: Vec<Value>,
    /// The index of the item, starting at 0. Negative values count from the end.
    index: i64,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "262ca24c-1025-43cf-a578-534e23234e97",
        name: "GetListItemBlock",
        description: "Gets the item at an index of a list.",
        categories: &[BlockCategory::Basic],
    };
    let item = |index: i64, item: Value| {
        BlockExample::exactly(json!({ "list": [1, 2, 3], "index": index }), vec![("item", item)])
    };
    let spec = identity.spec::<GetListItemInput>(outputs([any("item", "The item at the index.")]));
    pure(spec, run, vec![item(1, json!(2)), item(-1, json!(3))])
}

fn run(input: GetListItemInput) -> Result<PinValues, BlockError> {
    let mut list = input.list;
    let index = place(input.index, list.len());
    let index = index.ok_or_else(|| out_of_range(input.index, list.len()))?;
    Ok(vec![("item", list.swap_remove(index))])
}
