//! Blocks for the current time and for waiting.

mod format;

blocks! {
    countdown,
    current,
}

/// An integer, given as a number or as text.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum NumberOrText {
    Number(i64),
    Text(String),
}

impl Default for NumberOrText {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl NumberOrText {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
        }
    }
}
