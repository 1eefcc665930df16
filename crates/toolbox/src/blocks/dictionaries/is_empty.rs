//! Whether a dictionary has entries.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Dictionary;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{boolean, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The dictionary in question.
    dictionary: Dictionary,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "a3cf3f64-6bb9-4cc6-9900-608a0b3359b0",
        name: "DictionaryIsEmptyBlock",
        description: "Says whether a dictionary has no entries.",
        categories: &[BlockCategory::Basic],
    };
    let examples = vec![
        BlockExample::exactly(json!({ "dictionary": {} }), vec![("is_empty", json!(true))]),
        BlockExample::exactly(
            json!({ "dictionary": { "a": 1 } }),
            vec![("is_empty", json!(false))],
        ),
    ];
    let spec = about.spec::<Input>(outputs([boolean("is_empty", "Whether there are no entries.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    Ok(vec![("is_empty", input.dictionary.is_empty().into())])
}
