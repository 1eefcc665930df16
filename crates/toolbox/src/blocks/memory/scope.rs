//! Scope of a stored value, and its key in the store.

use ports::block::{BlockContext, BlockError};
use schemars::JsonSchema;
use serde::Deserialize;

/// Limit on a key, in bytes.
const MAX_KEY_BYTES: usize = 512;

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ValueScope {
    /// Runs of this agent.
    #[default]
    WithinAgent,
    /// All of the user's agents.
    AcrossAgents,
}

impl ValueScope {
    /// The key in the store. Blocks run outside an agent share one namespace per user.
    pub(crate) fn key(self, key: &str, context: &BlockContext) -> Result<String, BlockError> {
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(BlockError::failed(format!(
                "The key must be 1 to {MAX_KEY_BYTES} bytes long."
            )));
        }
        Ok(match (self, &context.node) {
            (Self::AcrossAgents, _) => format!("global#{key}"),
            (Self::WithinAgent, Some(node)) => format!("agent#{}#{key}", node.graph_id),
            (Self::WithinAgent, None) => format!("agent##{key}"),
        })
    }
}
