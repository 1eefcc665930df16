//! An entry of a dictionary that gets another value.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Dictionary, Key, not_found};
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, object, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The dictionary to change.
    dictionary: Dictionary,
    /// The key of the entry, which must be there.
    key: Key,
    /// The new value of the entry.
    value: Value,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "27e31876-18b6-44f3-ab97-f6226d8b3889",
        name: "ReplaceDictionaryValueBlock",
        description: "Gives an entry of a dictionary another value.",
        categories: &[BlockCategory::Basic],
    };
    let example = BlockExample::exactly(
        json!({ "dictionary": { "a": 1, "b": 2 }, "key": "a", "value": "new" }),
        vec![("updated_dictionary", json!({ "a": "new", "b": 2 })), ("old_value", json!(1))],
    );
    let spec = about.spec::<Input>(outputs([
        object("updated_dictionary", "The dictionary with the new value."),
        any("old_value", "The value that was there before."),
    ]));
    pure(spec, run, vec![example])
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let (mut dictionary, key) = (input.dictionary, input.key.into_name());
    let place = dictionary.get_mut(&key).ok_or_else(|| not_found(&key))?;
    let old = std::mem::replace(place, input.value);
    Ok(vec![("updated_dictionary", dictionary.into()), ("old_value", old)])
}
