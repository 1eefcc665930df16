//! Inputs that several AI blocks have. The descriptions are on the types, so every block words them alike.

use ports::block::BlockError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::template::{self, EscapeMode};

/// Limit on the attempts of one run, whatever its input says.
const MAX_ATTEMPTS: u32 = 10;

/// The model to use. Falls back to the server's default if the name is not configured.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(transparent)]
pub(crate) struct RequestedModel(pub(crate) Option<String>);

/// Approximate maximum length of the answer, in tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(transparent)]
pub(crate) struct MaxTokens(#[schemars(range(min = 1))] pub(crate) Option<usize>);

/// Values to insert into the prompts, by name.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(transparent)]
pub(crate) struct PromptValues(Map<String, Value>);

impl PromptValues {
    /// Renders the text as a template. Without values it is returned unchanged, so braces stay braces.
    pub(crate) fn fill(&self, text: &str) -> Result<String, BlockError> {
        if self.0.is_empty() {
            return Ok(text.to_owned());
        }
        template::render(text, &self.0, EscapeMode::None)
            .map_err(|error| BlockError::failed(error.to_string()))
    }
}

// Inputs of blocks that fill a prompt and return the answer. A doc comment would become part of the block's schema.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PromptOptions {
    #[serde(default)]
    pub(crate) prompt_values: PromptValues,
    #[serde(default)]
    pub(crate) max_tokens: MaxTokens,
}

/// How many attempts the model has.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(transparent)]
pub(crate) struct Attempts(#[schemars(range(min = 1))] u32);

impl Attempts {
    pub(crate) fn limited(self) -> u32 {
        self.0.clamp(1, MAX_ATTEMPTS)
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Self(3)
    }
}
