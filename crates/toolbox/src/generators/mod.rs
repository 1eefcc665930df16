//! Agent generators: what makes agents from words. To add one, write its module and add an arm to `connect`.

mod dummy;
mod goal_feedback;
mod model;
mod offline;
mod service;

use std::sync::Arc;

use ports::{AgentGenerator, Block, ModelProvider};

pub use model::ModelGeneratorOptions;
pub use service::{ServiceOptions, ServiceProbe, probe_service};

/// Which generator makes agents from words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratorOptions {
    /// An external service.
    Service(ServiceOptions),
    /// The configured model.
    Model(ModelGeneratorOptions),
    /// Agents for a few kinds of goals, without a model.
    Offline,
    /// Fixed answers, for tests.
    Dummy,
}

/// Sends no request yet.
pub fn connect(
    options: &GeneratorOptions,
    provider: Arc<dyn ModelProvider>,
    blocks: &[Arc<dyn Block>],
) -> Result<Arc<dyn AgentGenerator>, String> {
    Ok(match options {
        GeneratorOptions::Service(options) => Arc::new(service::GeneratorService::new(options)?),
        GeneratorOptions::Model(options) => {
            Arc::new(model::ModelGenerator::new(*options, provider, blocks))
        }
        GeneratorOptions::Offline => Arc::new(offline::OfflineGenerator::new(blocks)),
        GeneratorOptions::Dummy => Arc::new(dummy::DummyGenerator),
    })
}
