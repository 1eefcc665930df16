//! The configured model as an agent generator.

use async_trait::async_trait;
use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, GenerateAgent, Generated, GeneratorError, UpdateAgent,
};
use std::sync::Arc;

use ports::{Block, ModelProvider};

pub(crate) struct ModelGenerator;

impl ModelGenerator {
    pub(crate) fn new(_: Arc<dyn ModelProvider>, _: &[Arc<dyn Block>]) -> Self {
        Self
    }
}

#[async_trait]
impl AgentGenerator for ModelGenerator {
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
