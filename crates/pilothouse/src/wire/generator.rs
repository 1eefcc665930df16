//! The agent generator that the settings select.

use std::sync::Arc;

use ports::{AgentGenerator, Block, ModelProvider};
use toolbox::generators::{self, GeneratorOptions};

use crate::config::{SelectedProvider, Settings};

/// Sends no request yet.
pub(crate) fn connect(
    settings: &Settings,
    provider: Arc<dyn ModelProvider>,
    blocks: &[Arc<dyn Block>],
) -> anyhow::Result<Arc<dyn AgentGenerator>> {
    let options = match settings.provider().map_err(anyhow::Error::msg)? {
        SelectedProvider::Offline => GeneratorOptions::Offline,
        SelectedProvider::OpenAi { .. } | SelectedProvider::Anthropic { .. } => {
            GeneratorOptions::Model
        }
    };
    generators::connect(&options, provider, blocks).map_err(anyhow::Error::msg)
}
