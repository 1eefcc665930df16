//! `AddToDictionaryBlock`: adds entries to a dictionary.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Dictionary;
use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{object, outputs};

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

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "31d1064e-7446-4693-a7d4-65e5ca1180d1",
        name: "AddToDictionaryBlock",
        description: "Adds one or more entries to a dictionary, replacing entries with the same key.",
        categories: &[BlockCategory::Basic],
    };
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
    let spec = identity.spec::<AddToDictionaryInput>(outputs([object(
        "updated_dictionary",
        "The dictionary with the entries added.",
    )]));
    pure(spec, run, examples)
}

fn run(input: AddToDictionaryInput) -> Result<PinValues, BlockError> {
    let mut dictionary = input.dictionary;
    if !input.value.is_null() && !input.key.is_empty() {
        dictionary.insert(input.key, input.value);
    }
    dictionary.extend(input.entries);
    Ok(vec![("updated_dictionary", dictionary.into())])
}
