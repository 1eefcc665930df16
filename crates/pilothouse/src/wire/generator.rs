//! The agent generator that the settings select.

use std::sync::Arc;

use ports::{AgentGenerator, Block, ModelProvider};
use toolbox::generators::{self, GeneratorOptions, ModelGeneratorOptions, ServiceOptions};

use crate::config::{SelectedGenerator, Settings};

/// Sends no request yet.
pub(crate) fn connect(
    settings: &Settings,
    provider: Arc<dyn ModelProvider>,
    blocks: &[Arc<dyn Block>],
) -> anyhow::Result<Arc<dyn AgentGenerator>> {
    generators::connect(&options(settings)?, provider, blocks).map_err(anyhow::Error::msg)
}

pub(crate) fn options(settings: &Settings) -> anyhow::Result<GeneratorOptions> {
    let timeout = settings.generator_timeout.0;
    Ok(match settings.generator().map_err(anyhow::Error::msg)? {
        SelectedGenerator::Dummy => GeneratorOptions::Dummy,
        SelectedGenerator::Service(base_url) => {
            GeneratorOptions::Service(ServiceOptions { base_url, timeout })
        }
        SelectedGenerator::Offline => GeneratorOptions::Offline,
        SelectedGenerator::Model => GeneratorOptions::Model(ModelGeneratorOptions { timeout }),
    })
}
