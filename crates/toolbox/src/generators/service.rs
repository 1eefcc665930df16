//! An external agent generator service.

use async_trait::async_trait;
use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, GenerateAgent, Generated, GeneratorError, UpdateAgent,
};
use std::time::Duration;

/// Where the service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceOptions {
    pub base_url: String,
    pub timeout: Duration,
}

pub(crate) struct GeneratorService;

impl GeneratorService {
    pub(crate) fn new(_: &ServiceOptions) -> Result<Self, String> {
        Ok(Self)
    }
}

#[async_trait]
impl AgentGenerator for GeneratorService {
    async fn decompose(&self, goal: &AgentGoal) -> Result<Decomposition, GeneratorError> {
        super::dummy::DummyGenerator.decompose(goal).await
    }

    async fn generate(&self, request: &GenerateAgent) -> Result<Generated, GeneratorError> {
        super::dummy::DummyGenerator.generate(request).await
    }

    async fn update(&self, request: &UpdateAgent) -> Result<Generated, GeneratorError> {
        super::dummy::DummyGenerator.update(request).await
    }

    async fn customize(&self, request: &CustomizeAgent) -> Result<Generated, GeneratorError> {
        super::dummy::DummyGenerator.customize(request).await
    }
}
