//! `ReverseListOrderBlock`: reverses a list.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{list, outputs};

#[derive(Deserialize, JsonSchema)]
struct ReverseListInput {
    /// The list to reverse.
    input_list: Vec<Value>,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "422cb708-3109-4277-bfe3-bc2ae5812777",
        name: "ReverseListOrderBlock",
        description: "Reverses the order of a list.",
        categories: &[BlockCategory::Basic],
    };
    let example = BlockExample::exactly(
        json!({ "input_list": [1, "b", 3] }),
        vec![("reversed_list", json!([3, "b", 1]))],
    );
    let spec =
        identity.spec::<ReverseListInput>(outputs([list("reversed_list", "The reversed list.")]));
    pure(spec, run, vec![example])
}

fn run(input: ReverseListInput) -> Result<PinValues, BlockError> {
    let mut list = input.input_list;
    list.reverse();
    Ok(vec![("reversed_list", list.into())])
}
