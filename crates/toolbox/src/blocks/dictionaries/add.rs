//! Entries that are added to a dictionary.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Dictionary;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{object, outputs};

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Input {
    /// The dictionary to add to; without one, a new dictionary begins.
    dictionary: Dictionary,
    /// The key of the new entry.
    key: String,
    /// The value of the new entry.
    value: Value,
    /// More entries, added after the one of `key` and `value`.
    entries: Dictionary,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "31d1064e-7446-4693-a7d4-65e5ca1180d1",
        name: "AddToDictionaryBlock",
        description: "Adds one entry or several to a dictionary; an entry with the same key is \
                      replaced.",
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
    let spec = about
        .spec::<Input>(outputs([object("updated_dictionary", "The dictionary with the entries.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let mut dictionary = input.dictionary;
    if !input.value.is_null() && !input.key.is_empty() {
        dictionary.insert(input.key, input.value);
    }
    dictionary.extend(input.entries);
    Ok(vec![("updated_dictionary", dictionary.into())])
}
