//! `ListIsEmptyBlock`: checks whether a list is empty.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{boolean, outputs};

#[derive(Deserialize, JsonSchema)]
struct ListIsEmptyInput {
    /// The list to check.
    list: Vec<Value>,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "896ed73b-27d0-41be-813c-c1c1dc856c03",
        name: "ListIsEmptyBlock",
        description: "Checks whether a list is empty.",
        categories: &[BlockCategory::Basic],
    };
    let examples = vec![
        BlockExample::exactly(json!({ "list": [] }), vec![("is_empty", json!(true))]),
        BlockExample::exactly(json!({ "list": [null] }), vec![("is_empty", json!(false))]),
    ];
    let spec = identity
        .spec::<ListIsEmptyInput>(outputs([boolean("is_empty", "True if the list has no items.")]));
    pure(spec, run, examples)
}

fn run(input: ListIsEmptyInput) -> Result<PinValues, BlockError> {
    Ok(vec![("is_empty", input.list.is_empty().into())])
}
