//! `DictionaryIsEmptyBlock`: checks whether a dictionary is empty.

use super::Dictionary;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct DictionaryIsEmptyInput {
    /// The dictionary to check.
    dictionary: Dictionary,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "a3cf3f64-6bb9-4cc6-9900-608a0b3359b0",
        "DictionaryIsEmptyBlock",
        "Checks whether a dictionary is empty.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::boolean("is_empty", "True if the dictionary has no entries.")]);
    let examples = vec![
        BlockExample::exactly(json!({ "dictionary": {} }), vec![("is_empty", json!(true))]),
        BlockExample::exactly(
            json!({ "dictionary": { "a": 1 } }),
            vec![("is_empty", json!(false))],
        ),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: DictionaryIsEmptyInput) -> Result<PinValues, BlockError> {
    Ok(vec![("is_empty", input.dictionary.is_empty().into())])
}
