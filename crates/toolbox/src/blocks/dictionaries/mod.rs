//! Making, changing and reading dictionaries.

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

/// The keys of JSON are texts, but people also write numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Key {
    Place(i64),
    Name(String),
}

impl Key {
    fn into_name(self) -> String {
        match self {
            Self::Place(place) => place.to_string(),
            Self::Name(name) => name,
        }
    }
}

fn not_found(key: &str) -> BlockError {
    BlockError::failed(format!("The dictionary has no key '{key}'."))
}
