//! Blocks that create, change and read dictionaries.

blocks! {
    add,
    create,
    find,
    is_empty,
    remove,
    replace,
}

use ports::block::BlockError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

type Dictionary = Map<String, Value>;

/// A dictionary key or a list index. JSON keys are strings, but numbers are accepted too.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum EntryKey {
    Index(i64),
    Name(String),
}

impl EntryKey {
    fn into_name(self) -> String {
        match self {
            Self::Index(index) => index.to_string(),
            Self::Name(name) => name,
        }
    }
}

fn not_found(key: &str) -> BlockError {
    BlockError::failed(format!("Key not found in the dictionary: '{key}'."))
}
