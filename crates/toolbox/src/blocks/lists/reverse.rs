//! A list from its end to its beginning.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{list, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The list to turn around.
    input_list: Vec<Value>,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "422cb708-3109-4277-bfe3-bc2ae5812777",
        name: "ReverseListOrderBlock",
        description: "Gives the items of a list in the opposite order.",
        categories: &[BlockCategory::Basic],
    };
    let example = BlockExample::exactly(
        json!({ "input_list": [1, "b", 3] }),
        vec![("reversed_list", json!([3, "b", 1]))],
    );
    let spec = about.spec::<Input>(outputs([list("reversed_list", "The list, last item first.")]));
    pure(spec, run, vec![example])
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let mut list = input.input_list;
    list.reverse();
    Ok(vec![("reversed_list", list.into())])
}
