//! The configured model as an agent generator: it plans, and writes agent specs. `prompts` has what it is told,
//! `block_details` which blocks it is told about, `conversation` asks it, `reply` reads its answers.

mod block_details;
mod conversation;
mod prompts;
mod reply;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, FailedAgent, GenerateAgent, Generated,
    GeneratorError, UpdateAgent,
};
use ports::call_services::GivenAgent;
use ports::{AgentGenerator, Block, ModelProvider};
use protocol::graph::Graph;
use serde_json::Value;

use self::conversation::Conversation;
use self::prompts::Material;
use crate::generators::goal_feedback::GoalFeedback;
use crate::tools::block_choice::BlockCatalog;
use crate::tools::building_guide;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelGeneratorOptions {
    /// Time limit for one plan or one agent, including repeated requests.
    pub timeout: Duration,
}

pub(crate) struct ModelGenerator {
    options: ModelGeneratorOptions,
    provider: Arc<dyn ModelProvider>,
    blocks: BlockCatalog,
    /// Its first part is the same in every request for an agent, so that providers can cache it.
    guide: String,
}

/// What the model made of a request for an agent.
enum Written {
    Spec(String),
    Feedback(GoalFeedback),
}

impl ModelGenerator {
    pub(crate) fn new(
        options: ModelGeneratorOptions,
        provider: Arc<dyn ModelProvider>,
        blocks: &[Arc<dyn Block>],
    ) -> Self {
        let blocks = BlockCatalog::of(blocks.into());
        let guide = building_guide::for_writers(&blocks);
        Self { options, provider, blocks, guide }
    }

    async fn ask<T>(
        &self,
        system: String,
        material: &Material,
        read: impl Fn(&str) -> Result<T, String> + Send + Sync,
    ) -> Result<T, GeneratorError> {
        let conversation = Conversation::new(&*self.provider, system, material.text());
        match tokio::time::timeout(self.options.timeout, conversation.answer(read)).await {
            Ok(answer) => answer,
            Err(_) => Err(GeneratorError::new("timeout", "The model took too long.")),
        }
    }

    /// Changes an existing agent.
    async fn change(
        &self,
        change: &AgentGoal,
        spec: &str,
        graph: &Graph,
    ) -> Result<Generated, GeneratorError> {
        // Some graphs cannot be written as a spec; their JSON says the same.
        let current = match spec.trim() {
            "" => serde_json::to_string(graph).unwrap_or_default(),
            spec => spec.to_owned(),
        };
        let details = block_details::of(&self.blocks, &[&change.description], &current);
        let material = Material::of_goal("change", change)
            .section("current_agent", &current)
            .section("block_details", &details);
        let read = |text: &str| match reply::spec(text) {
            Ok(spec) => Ok(Written::Spec(spec)),
            // Only where there is no spec: a spec may mention anything.
            Err(why) => match reply::feedback(text, change)? {
                Some(feedback) => Ok(Written::Feedback(feedback)),
                None => Err(why),
            },
        };
        let system = prompts::change(&self.guide);
        Ok(match self.ask(system, &material, read).await? {
            Written::Spec(spec) => agent(spec),
            Written::Feedback(GoalFeedback::Questions(questions)) => {
                Generated::Questions(questions)
            }
            Written::Feedback(GoalFeedback::Suggestion(suggestion)) => {
                Generated::Suggestion(suggestion)
            }
        })
    }
}

#[async_trait]
impl AgentGenerator for ModelGenerator {
    async fn decompose(&self, goal: &AgentGoal) -> Result<Decomposition, GeneratorError> {
        let system = prompts::plan(&building_guide::block_list(&self.blocks));
        let material = Material::of_goal("goal", goal);
        self.ask(system, &material, |text| reply::decomposition(text, goal)).await
    }

    async fn generate(&self, request: &GenerateAgent) -> Result<Generated, GeneratorError> {
        let GenerateAgent { goal, instructions, .. } = request;
        let steps = step_descriptions(instructions);
        let wanted: Vec<&str> = steps.into_iter().chain([goal.description.as_str()]).collect();
        let plan = instructions.to_string();
        let details = block_details::of(&self.blocks, &wanted, &plan);
        let material = Material::of_goal("goal", goal)
            .section("plan", &plan)
            .section("block_details", &details);
        let spec = self.ask(prompts::write(&self.guide), &material, reply::spec).await?;
        Ok(agent(spec))
    }

    async fn update(&self, request: &UpdateAgent) -> Result<Generated, GeneratorError> {
        self.change(&request.change, &request.current_spec, &request.current).await
    }

    async fn customize(&self, request: &CustomizeAgent) -> Result<Generated, GeneratorError> {
        self.change(&request.change, &request.template_spec, &request.template).await
    }

    async fn repair(&self, failed: &FailedAgent) -> Result<Option<Generated>, GeneratorError> {
        let spec = match &failed.agent {
            GivenAgent::Spec(Value::String(text)) => text.clone(),
            GivenAgent::Spec(spec) => spec.to_string(),
            // This generator writes specs only.
            GivenAgent::Graph(_) | GivenAgent::Edits { .. } | GivenAgent::Stored { .. } => {
                return Ok(None);
            }
        };
        let problems = prompts::problems(&failed.problems);
        let details = block_details::of(&self.blocks, &[], &format!("{spec}\n{problems}"));
        let mut material = Material::of_goal("goal", &failed.goal);
        if let Some(current) = &failed.current_spec {
            material = material.section("agent_before_the_change", current);
        }
        let material = material
            .section("spec_with_problems", &spec)
            .section("problems", &problems)
            .section("block_details", &details);
        let spec = self.ask(prompts::repair(&self.guide), &material, reply::spec).await?;
        Ok(Some(agent(spec)))
    }
}

fn agent(spec: String) -> Generated {
    Generated::Agent(GivenAgent::Spec(Value::String(spec)))
}

fn step_descriptions(instructions: &Value) -> Vec<&str> {
    let steps = instructions.get("steps").and_then(Value::as_array).into_iter().flatten();
    steps.filter_map(|step| step.get("description").and_then(Value::as_str)).collect()
}
