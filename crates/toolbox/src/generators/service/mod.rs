//! An external agent generator service, called over HTTP. `requests` has the bodies, `transport` sends them, `answers`
//! reads what comes back, `errors` names what went wrong, `probe` checks the service's health.

mod answers;
mod errors;
mod probe;
mod requests;
mod transport;

use std::time::Duration;

use async_trait::async_trait;
use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, GenerateAgent, Generated, GeneratorError, UpdateAgent,
};

use requests::{
    DecomposeRequest, GenerateRequest, OperationIds, TemplateRequest, UpdateRequest, library_agents,
};
use transport::ServiceClient;

pub use probe::{ServiceProbe, probe_service};

/// Where the service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceOptions {
    /// Without a trailing slash.
    pub base_url: String,
    /// Time limit for one request, including its answer.
    pub timeout: Duration,
}

pub(crate) struct GeneratorService {
    client: ServiceClient,
}

impl GeneratorService {
    pub(crate) fn new(options: &ServiceOptions) -> Result<Self, String> {
        Ok(Self { client: ServiceClient::new(options)? })
    }
}

#[async_trait]
impl AgentGenerator for GeneratorService {
    async fn decompose(&self, goal: &AgentGoal) -> Result<Decomposition, GeneratorError> {
        let body = DecomposeRequest {
            description: requests::with_context(goal),
            library_agents: library_agents(goal),
        };
        let answer = self.client.post("/api/decompose-description", &body).await?;
        answers::decomposition(answer, goal)
    }

    async fn generate(&self, request: &GenerateAgent) -> Result<Generated, GeneratorError> {
        let body = GenerateRequest {
            instructions: &request.instructions,
            library_agents: library_agents(&request.goal),
            operation: request.operation.as_ref().map(OperationIds::of),
        };
        let answer = self.client.post("/api/generate-agent", &body).await?;
        answers::generated(answer, &request.goal, request.operation.as_ref())
    }

    async fn update(&self, request: &UpdateAgent) -> Result<Generated, GeneratorError> {
        let body = UpdateRequest {
            update_request: requests::with_context(&request.change),
            current_agent_json: &request.current,
            library_agents: library_agents(&request.change),
            operation: request.operation.as_ref().map(OperationIds::of),
        };
        let answer = self.client.post("/api/update-agent", &body).await?;
        answers::generated(answer, &request.change, request.operation.as_ref())
    }

    async fn customize(&self, request: &CustomizeAgent) -> Result<Generated, GeneratorError> {
        let body = TemplateRequest {
            template_agent_json: &request.template,
            modification_request: requests::with_context(&request.change),
        };
        let answer = self.client.post("/api/template-modification", &body).await?;
        answers::generated(answer, &request.change, None)
    }
}
