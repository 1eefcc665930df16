//! Makes agents for a few kinds of goals without a model.

use async_trait::async_trait;
use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, GenerateAgent, Generated, GeneratorError, UpdateAgent,
};

pub(crate) struct OfflineGenerator;

#[async_trait]
impl AgentGenerator for OfflineGenerator {
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
