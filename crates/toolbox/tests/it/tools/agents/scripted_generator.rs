//! A generator that answers as the test says and records what it was asked.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, FailedAgent, GenerateAgent, Generated,
    GeneratorError, UpdateAgent,
};
use ports::call_services::GivenAgent;
use serde_json::json;

#[derive(Default)]
pub(crate) struct ScriptedGenerator {
    pub(crate) plan: Mutex<Option<Result<Decomposition, GeneratorError>>>,
    /// The answer to `generate`, `update` and `customize`.
    pub(crate) made: Mutex<Option<Result<Generated, GeneratorError>>>,
    /// The answers to `repair`; then `None`.
    pub(crate) repairs: Mutex<VecDeque<Result<Option<Generated>, GeneratorError>>>,
    pub(crate) asked: Mutex<Vec<Asked>>,
}

/// A request to the generator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    Decompose(AgentGoal),
    Generate(GenerateAgent),
    Update(UpdateAgent),
    Customize(CustomizeAgent),
    Repair(FailedAgent),
}

pub(crate) fn spec(name: &str) -> GivenAgent {
    GivenAgent::Spec(json!({ "name": name }))
}

impl ScriptedGenerator {
    pub(crate) fn plans(&self, plan: Result<Decomposition, GeneratorError>) {
        *self.plan.lock().expect("not poisoned") = Some(plan);
    }

    pub(crate) fn makes(&self, made: Result<Generated, GeneratorError>) {
        *self.made.lock().expect("not poisoned") = Some(made);
    }

    pub(crate) fn repairs(&self, repaired: Result<Option<Generated>, GeneratorError>) {
        self.repairs.lock().expect("not poisoned").push_back(repaired);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.asked.lock().expect("not poisoned"))
    }

    fn note(&self, asked: Asked) {
        self.asked.lock().expect("not poisoned").push(asked);
    }

    fn answer(&self, asked: Asked) -> Result<Generated, GeneratorError> {
        self.note(asked);
        let made = self.made.lock().expect("not poisoned").clone();
        made.unwrap_or_else(|| Ok(Generated::Agent(spec("Made"))))
    }
}

#[async_trait]
impl AgentGenerator for ScriptedGenerator {
    async fn decompose(&self, goal: &AgentGoal) -> Result<Decomposition, GeneratorError> {
        self.note(Asked::Decompose(goal.clone()));
        let plan = self.plan.lock().expect("not poisoned").clone();
        plan.unwrap_or_else(|| Ok(Decomposition::Instructions(json!({"steps": []}))))
    }

    async fn generate(&self, request: &GenerateAgent) -> Result<Generated, GeneratorError> {
        self.answer(Asked::Generate(request.clone()))
    }

    async fn update(&self, request: &UpdateAgent) -> Result<Generated, GeneratorError> {
        self.answer(Asked::Update(request.clone()))
    }

    async fn customize(&self, request: &CustomizeAgent) -> Result<Generated, GeneratorError> {
        self.answer(Asked::Customize(request.clone()))
    }

    async fn repair(&self, failed: &FailedAgent) -> Result<Option<Generated>, GeneratorError> {
        self.note(Asked::Repair(failed.clone()));
        self.repairs.lock().expect("not poisoned").pop_front().unwrap_or(Ok(None))
    }
}
