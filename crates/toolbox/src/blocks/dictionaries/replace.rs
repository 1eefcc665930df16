//! `ReplaceDictionaryValueBlock`: replaces the value of an entry.

use super::{Dictionary, EntryKey, not_found};
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct ReplaceDictionaryValueInput {
    /// The dictionary to change.
    dictionary: Dictionary,
    /// The key of an existing entry.
    key: EntryKey,
    /// The new value.
    value: Value,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "27e31876-18b6-44f3-ab97-f6226d8b3889",
        "ReplaceDictionaryValueBlock",
        "Replaces the value of an existing entry in a dictionary.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::object("updated_dictionary", "The dictionary with the new value."),
        pin::any("old_value", "The replaced value."),
    ]);
    let example = BlockExample::exactly(
        json!({ "dictionary": { "a": 1, "b": 2 }, "key": "a", "value": "new" }),
        vec![("updated_dictionary", json!({ "a": "new", "b": 2 })), ("old_value", json!(1))],
    );
    vec![block(spec, vec![example], Pure(run))]
}

fn run(input: ReplaceDictionaryValueInput) -> Result<PinValues, BlockError> {
    let (mut dictionary, key) = (input.dictionary, input.key.into_name());
    let entry = dictionary.get_mut(&key).ok_or_else(|| not_found(&key))?;
    let old = std::mem::replace(entry, input.value);
    Ok(vec![("updated_dictionary", dictionary.into()), ("old_value", old)])
}
