//! A generator with fixed answers, for tests of what surrounds one.

use async_trait::async_trait;
use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, GenerateAgent, Generated, GeneratorError, UpdateAgent,
};
use ports::call_services::GivenAgent;
use protocol::graph::Graph;
use serde_json::json;

pub(crate) struct DummyGenerator;

#[async_trait]
impl AgentGenerator for DummyGenerator {
    async fn decompose(&self, _: &AgentGoal) -> Result<Decomposition, GeneratorError> {
        Ok(Decomposition::Instructions(json!({"steps": [
            {"description": "Take a text from the user", "action": "add_input"},
            {"description": "Pass it on", "action": "connect_blocks"},
            {"description": "Show it", "action": "add_output"},
        ]})))
    }

    async fn generate(&self, request: &GenerateAgent) -> Result<Generated, GeneratorError> {
        let spec = json!({
            "name": "Dummy agent",
            "description": request.goal.description,
            "inputs": {"text": {"type": "string", "default": "Ahoy"}},
            "outputs": {"text": "inputs.text"},
        });
        Ok(Generated::Agent(GivenAgent::Spec(spec)))
    }

    async fn update(&self, request: &UpdateAgent) -> Result<Generated, GeneratorError> {
        Ok(described(&request.current, "updated", &request.change))
    }

    async fn customize(&self, request: &CustomizeAgent) -> Result<Generated, GeneratorError> {
        Ok(described(&request.template, "customized", &request.change))
    }
}

/// The agent with the change noted in its description.
fn described(graph: &Graph, how: &str, change: &AgentGoal) -> Generated {
    let mut graph = graph.clone();
    graph.description = format!("{} ({how}: {})", graph.description, change.description);
    Generated::Agent(GivenAgent::Graph(json!(graph)))
}
