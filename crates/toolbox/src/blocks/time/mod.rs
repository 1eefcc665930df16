//! The time of day, and waiting.

mod countdown;
mod current;
mod format;

use std::sync::Arc;

use ports::Block;

use super::Parts;

pub(super) fn all(parts: &Parts) -> Vec<Arc<dyn Block>> {
    vec![
        countdown::block(),
        current::date(parts.clock.clone()),
        current::date_and_time(parts.clock.clone()),
        current::time(parts.clock.clone()),
    ]
}

/// A number that may be written as text.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Count {
    Number(i64),
    Text(String),
}

impl Default for Count {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl Count {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
        }
    }
}
