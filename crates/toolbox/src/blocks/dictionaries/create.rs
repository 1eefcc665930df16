//! `CreateDictionaryBlock`: creates a dictionary.

use super::Dictionary;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct CreateDictionaryInput {
    /// The entries of the dictionary.
    values: Dictionary,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "b924ddf4-de4f-4b56-9a85-358930dcbc91",
        "CreateDictionaryBlock",
        "Creates a dictionary from fixed entries.",
    )
    .categories(&[BlockCategory::Data])
    .outputs([pin::object("dictionary", "The dictionary.")]);
    let values = json!({ "name": "Ann", "tags": [1, 2] });
    let example =
        BlockExample::exactly(json!({ "values": values }), vec![("dictionary", values.clone())]);
    vec![block(spec, vec![example], Pure(run))]
}

fn run(input: CreateDictionaryInput) -> Result<PinValues, BlockError> {
    Ok(vec![("dictionary", input.values.into())])
}
