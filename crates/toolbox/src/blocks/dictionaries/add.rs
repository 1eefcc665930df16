//! `AddToDictionaryBlock`: adds entries to a dictionary.

use super::Dictionary;
use crate::blocks::prelude::*;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct AddToDictionaryInput {
    /// The dictionary to add to. If empty, a new dictionary is created.
    dictionary: Dictionary,
    /// The key of the new entry.
    key: String,
    /// The value of the new entry.
    value: Value,
    /// More entries to add, after `key` and `value`.
    entries: Dictionary,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "31d1064e-7446-4693-a7d4-65e5ca1180d1",
        "AddToDictionaryBlock",
        "Adds one or more entries to a dictionary, replacing entries with the same key.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::object("updated_dictionary", "The dictionary with the entries added.")]);
    let added = |input: Value, result: Value| {
        BlockExample::exactly(input, vec![("updated_dictionary", result)])
    };
    let examples = vec![
        added(
            json!({ "dictionary": { "a": 1 }, "key": "b", "value": 2 }),
            json!({ "a": 1, "b": 2 }),
        ),
        added(json!({ "key": "first", "value": [] }), json!({ "first": [] })),
        added(
            json!({ "dictionary": { "a": 1 }, "entries": { "a": 3, "c": 4 } }),
            json!({ "a": 3, "c": 4 }),
        ),
        added(json!({ "dictionary": { "a": 1 }, "key": "b" }), json!({ "a": 1 })),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: AddToDictionaryInput) -> Result<PinValues, BlockError> {
    let mut dictionary = input.dictionary;
    if !input.value.is_null() && !input.key.is_empty() {
        dictionary.insert(input.key, input.value);
    }
    dictionary.extend(input.entries);
    Ok(vec![("updated_dictionary", dictionary.into())])
}
