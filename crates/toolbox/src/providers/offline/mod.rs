//! The offline pilot: the provider used when no model is configured. It understands a few commands and sentences, needs
//! no network and is deterministic, so new users see real streaming and tools at once, and benchmarks measure everything
//! but a model.

mod building_history;
mod building_replies;
mod building_requests;
mod command;
mod plan;
mod plan_player;
mod replies;
mod requests;
mod sentences;

use async_trait::async_trait;
use ports::ModelProvider;
use ports::model::{ModelError, ModelRequest, ModelStream};
use protocol::turn::ModelTier;

pub use sentences::THEMES;

pub(crate) struct OfflinePilot {
    pub(crate) context_tokens: u64,
}

#[async_trait]
impl ModelProvider for OfflinePilot {
    fn name(&self) -> &'static str {
        "offline"
    }

    fn model(&self, _: ModelTier) -> &str {
        "offline-pilot"
    }

    /// The pilot has no limit of its own; a configured one lets people try out compaction.
    fn window(&self, _: ModelTier) -> u64 {
        self.context_tokens
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        Ok(plan_player::play(plan::plan(&request), plan::prompt_chars(&request)))
    }

    fn gives_titles(&self) -> bool {
        false
    }

    async fn title(&self, _: &str) -> Result<Option<String>, ModelError> {
        Ok(None)
    }

    fn summarizes(&self) -> bool {
        false
    }
}
