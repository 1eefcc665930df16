//! Who shares a remembered value.

use ports::block::{BlockContext, BlockError};
use schemars::JsonSchema;
use serde::Deserialize;

/// Bytes of a name under which something is remembered.
const KEY_BYTES: usize = 512;

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scope {
    /// The runs of this agent.
    #[default]
    WithinAgent,
    /// All agents of the user.
    AcrossAgents,
}

impl Scope {
    /// The name in the store. A block that runs by itself belongs to no agent, and shares with others like it.
    pub(super) fn key(self, key: &str, context: &BlockContext) -> Result<String, BlockError> {
        if key.is_empty() || key.len() > KEY_BYTES {
            return Err(BlockError::failed(format!("A key has between 1 and {KEY_BYTES} bytes.")));
        }
        Ok(match (self, &context.node) {
            (Self::AcrossAgents, _) => format!("global#{key}"),
            (Self::WithinAgent, Some(node)) => format!("agent#{}#{key}", node.graph_id),
            (Self::WithinAgent, None) => format!("agent##{key}"),
        })
    }
}
