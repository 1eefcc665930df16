//! `RemoveFromDictionaryBlock`: removes an entry.

use super::{Dictionary, EntryKey, not_found};
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct RemoveFromDictionaryInput {
    /// The dictionary to change.
    dictionary: Dictionary,
    /// The key of the entry to remove.
    key: EntryKey,
    /// Also output the removed value.
    #[serde(default)]
    return_value: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "46afe2ea-c613-43f8-95ff-6692c3ef6876",
        "RemoveFromDictionaryBlock",
        "Removes an entry from a dictionary.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::object("updated_dictionary", "The dictionary without the entry."),
        pin::any("removed_value", "The removed value, if `return_value` is on."),
    ]);
    let examples = vec![
        BlockExample::exactly(
            json!({ "dictionary": { "a": 1, "b": 2, "c": 3 }, "key": "b", "return_value": true }),
            vec![("updated_dictionary", json!({ "a": 1, "c": 3 })), ("removed_value", json!(2))],
        ),
        BlockExample::exactly(
            json!({ "dictionary": { "x": 1 }, "key": "x" }),
            vec![("updated_dictionary", json!({}))],
        ),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: RemoveFromDictionaryInput) -> Result<PinValues, BlockError> {
    let (mut dictionary, key) = (input.dictionary, input.key.into_name());
    let removed = dictionary.shift_remove(&key).ok_or_else(|| not_found(&key))?;
    let mut outputs = vec![("updated_dictionary", dictionary.into())];
    if input.return_value {
        outputs.push(("removed_value", removed));
    }
    Ok(outputs)
}
