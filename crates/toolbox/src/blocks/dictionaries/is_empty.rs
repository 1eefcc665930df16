//! `DictionaryIsEmptyBlock`: checks whether a dictionary is empty.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Dictionary;
use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{boolean, outputs};

#[derive(Deserialize, JsonSchema)]
struct DictionaryIsEmptyInput {
    /// The dictionary to check.
    dictionary: Dictionary,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "a3cf3f64-6bb9-4cc6-9900-608a0b3359b0",
        name: "DictionaryIsEmptyBlock",
        description: "Checks whether a dictionary is empty.",
        categories: &[BlockCategory::Basic],
    };
    let examples = vec![
        BlockExample::exactly(json!({ "dictionary": {} }), vec![("is_empty", json!(true))]),
        BlockExample::exactly(
            json!({ "dictionary": { "a": 1 } }),
            vec![("is_empty", json!(false))],
        ),
    ];
    let spec = identity.spec::<DictionaryIsEmptyInput>(outputs([boolean(
        "is_empty",
        "True if the dictionary has no entries.",
    )]));
    pure(spec, run, examples)
}

fn run(input: DictionaryIsEmptyInput) -> Result<PinValues, BlockError> {
    Ok(vec![("is_empty", input.dictionary.is_empty().into())])
}
