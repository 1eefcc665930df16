//! Blocks that create, change and read dictionaries.

mod add;
mod create;
mod find;
mod is_empty;
mod remove;
mod replace;

use std::sync::Arc;

use ports::Block;
use ports::block::BlockError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) fn all() -> Vec<Arc<dyn Block>> {
    vec![
        add::block(),
        create::block(),
        find::block(),
        is_empty::block(),
        remove::block(),
        replace::block(),
    ]
}

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
