//! `RemoveFromDictionaryBlock`: removes an entry.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Dictionary, EntryKey, not_found};
use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{any, object, outputs};

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

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "46afe2ea-c613-43f8-95ff-6692c3ef6876",
        name: "RemoveFromDictionaryBlock",
        description: "Removes an entry from a dictionary.",
        categories: &[BlockCategory::Basic],
    };
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
    let spec = identity.spec::<RemoveFromDictionaryInput>(outputs([
        object("updated_dictionary", "The dictionary without the entry."),
        any("removed_value", "The removed value, if `return_value` is on."),
    ]));
    pure(spec, run, examples)
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
