//! A dictionary from its entries.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Dictionary;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{object, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The entries of the dictionary.
    values: Dictionary,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "b924ddf4-de4f-4b56-9a85-358930dcbc91",
        name: "CreateDictionaryBlock",
        description: "Makes a dictionary of entries that are all known from the start.",
        categories: &[BlockCategory::Data],
    };
    let values = json!({ "name": "Ann", "tags": [1, 2] });
    let example =
        BlockExample::exactly(json!({ "values": values }), vec![("dictionary", values.clone())]);
    let spec = about.spec::<Input>(outputs([object("dictionary", "The dictionary.")]));
    pure(spec, run, vec![example])
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    Ok(vec![("dictionary", input.values.into())])
}
