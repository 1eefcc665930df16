//! `CreateDictionaryBlock`: creates a dictionary.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Dictionary;
use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{object, outputs};

#[derive(Deserialize, JsonSchema)]
struct CreateDictionaryInput {
    /// The entries of the dictionary.
    values: Dictionary,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "b924ddf4-de4f-4b56-9a85-358930dcbc91",
        name: "CreateDictionaryBlock",
        description: "Creates a dictionary from fixed entries.",
        categories: &[BlockCategory::Data],
    };
    let values = json!({ "name": "Ann", "tags": [1, 2] });
    let example =
        BlockExample::exactly(json!({ "values": values }), vec![("dictionary", values.clone())]);
    let spec =
        identity.spec::<CreateDictionaryInput>(outputs([object("dictionary", "The dictionary.")]));
    pure(spec, run, vec![example])
}

fn run(input: CreateDictionaryInput) -> Result<PinValues, BlockError> {
    Ok(vec![("dictionary", input.values.into())])
}
