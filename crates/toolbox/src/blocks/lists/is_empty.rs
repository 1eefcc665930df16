//! Whether a list has items.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{boolean, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The list in question.
    list: Vec<Value>,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "896ed73b-27d0-41be-813c-c1c1dc856c03",
        name: "ListIsEmptyBlock",
        description: "Says whether a list has no items.",
        categories: &[BlockCategory::Basic],
    };
    let examples = vec![
        BlockExample::exactly(json!({ "list": [] }), vec![("is_empty", json!(true))]),
        BlockExample::exactly(json!({ "list": [null] }), vec![("is_empty", json!(false))]),
    ];
    let spec = about.spec::<Input>(outputs([boolean("is_empty", "Whether there are no items.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    Ok(vec![("is_empty", input.list.is_empty().into())])
}
