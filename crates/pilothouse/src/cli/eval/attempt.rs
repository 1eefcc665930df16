//! One attempt at a task: the generator makes an agent, the stages of a server check it, and its rehearsals are compared
//! with what the task expects.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::BlockCatalog;
use graphs::catalog::find_block;
use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, Decomposition, FailedAgent, GenerateAgent, Generated, GeneratorError,
};
use ports::call_services::GivenAgent;
use protocol::graph::{Graph, GraphProblem};
use protocol::rehearsal::RehearsalReport;
use protocol::response::{SuggestedGoal, UserQuestion};
use serde::Deserialize;
use serde_json::{Value, json};

use super::comparison::difference;
use super::eval_task::{EvalTask, ExpectedRehearsal};
use crate::cli::client::{ApiClient, ClientError};

/// How often the generator may repair an agent, as in a chat.
const REPAIRS: u32 = 3;

pub(crate) struct Workbench {
    pub(crate) generator: Arc<dyn AgentGenerator>,
    /// Of the server with the stages.
    pub(crate) client: ApiClient,
    pub(crate) blocks: BlockCatalog,
}

/// Who is responsible for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureCause {
    /// The generator made the wrong thing of the goal, and it shows.
    Builder,
    /// The generator, its model or the server did not work.
    Service,
    /// The stages call the agent ready, but it does something else.
    VerificationGap,
}

pub(crate) struct AttemptFailure {
    pub(crate) cause: FailureCause,
    pub(crate) reason: String,
    /// The agent, if there was one.
    pub(crate) spec: Option<String>,
}

pub(crate) struct AttemptSuccess {
    /// The state of the agent, or what else was expected.
    pub(crate) what: &'static str,
    pub(crate) repairs: u32,
}

/// What the generator made of a goal.
enum Outcome {
    Agent { agent: GivenAgent, goal: AgentGoal, asked: bool },
    Suggestion(SuggestedGoal),
}

/// An agent that the stages accept.
struct AcceptedAgent {
    graph: Graph,
    spec: String,
    repairs: u32,
}

/// What `agents/fix` answers.
#[derive(Deserialize)]
struct FixAnswer {
    agent_json: Graph,
    spec: String,
    valid_after_fix: bool,
    remaining: Vec<GraphProblem>,
}

impl Workbench {
    pub(crate) async fn attempt(&self, task: &EvalTask) -> Result<AttemptSuccess, AttemptFailure> {
        let expected = &task.expected;
        let (agent, goal, asked) = match (self.make(task).await?, expected.goal) {
            (Outcome::Suggestion(found), Some(goal_type)) if found.goal_type == goal_type => {
                return Ok(AttemptSuccess { what: "suggestion", repairs: 0 });
            }
            (Outcome::Suggestion(found), _) => {
                let reason =
                    format!("suggested “{}” instead: {}", found.suggested_goal, found.reason);
                return Err(builder(reason));
            }
            (Outcome::Agent { .. }, Some(_)) => {
                return Err(builder("made an agent of a goal that it should refuse"));
            }
            (Outcome::Agent { agent, goal, asked }, None) => (agent, goal, asked),
        };
        if expected.question && !asked {
            return Err(builder("did not ask"));
        }
        let accepted = self.accept(agent, goal).await?;
        let what = self
            .check(task, &accepted)
            .await
            .map_err(|failure| AttemptFailure { spec: Some(accepted.spec.clone()), ..failure })?;
        Ok(AttemptSuccess { what, repairs: accepted.repairs })
    }

    /// From the goal to an agent, with at most one round of questions.
    async fn make(&self, task: &EvalTask) -> Result<Outcome, AttemptFailure> {
        let mut goal = AgentGoal { description: task.goal.clone(), ..AgentGoal::default() };
        let mut asked = false;
        let instructions = loop {
            match self.generator.decompose(&goal).await.map_err(service)? {
                Decomposition::Instructions(instructions) => break instructions,
                Decomposition::Suggestion(suggestion) => {
                    return Ok(Outcome::Suggestion(suggestion));
                }
                Decomposition::Questions(questions) => match &task.answer {
                    Some(answer) if !asked => {
                        asked = true;
                        goal.context = Some(answers(&questions, answer));
                    }
                    Some(_) => return Err(builder(format!("asks again: {}", texts(&questions)))),
                    None => return Err(builder(format!("asks: {}", texts(&questions)))),
                },
            }
        };
        let request = GenerateAgent { goal: goal.clone(), instructions, operation: None };
        match self.generator.generate(&request).await.map_err(service)? {
            Generated::Agent(agent) => Ok(Outcome::Agent { agent, goal, asked }),
            Generated::Suggestion(suggestion) => Ok(Outcome::Suggestion(suggestion)),
            Generated::Questions(questions) => {
                Err(builder(format!("asks after planning: {}", texts(&questions))))
            }
            Generated::Accepted => {
                Err(failure(FailureCause::Service, "accepted work that cannot be awaited here"))
            }
        }
    }

    /// Fixes and checks the agent, and lets the generator repair what is left. The same errors twice end the attempt.
    async fn accept(
        &self,
        mut agent: GivenAgent,
        goal: AgentGoal,
    ) -> Result<AcceptedAgent, AttemptFailure> {
        let mut seen = BTreeSet::new();
        let mut repairs = 0;
        loop {
            let problems = match self.fix(&agent).await? {
                Ok(fixed) if fixed.valid_after_fix => {
                    return Ok(AcceptedAgent {
                        graph: fixed.agent_json,
                        spec: fixed.spec,
                        repairs,
                    });
                }
                Ok(fixed) => fixed.remaining,
                Err(problems) => problems,
            };
            let reason = format!("{} after {repairs} repairs", listed(&problems));
            let invalid = AttemptFailure { spec: spec_text(&agent), ..builder(reason) };
            let signature: BTreeSet<_> =
                problems.iter().map(|found| (found.code.clone(), found.path.clone())).collect();
            if repairs == REPAIRS || !seen.insert(signature) {
                return Err(invalid);
            }
            repairs += 1;
            let (goal, current_spec) = (goal.clone(), None);
            let failed = FailedAgent { goal, current_spec, agent, problems };
            agent = match self.generator.repair(&failed).await.map_err(service)? {
                Some(Generated::Agent(agent)) => agent,
                _ => return Err(invalid),
            };
        }
    }

    /// The fixed agent, or the problems of one that cannot be read.
    async fn fix(
        &self,
        agent: &GivenAgent,
    ) -> Result<Result<FixAnswer, Vec<GraphProblem>>, AttemptFailure> {
        let body = match agent {
            GivenAgent::Spec(spec) => json!({ "spec": spec }),
            GivenAgent::Graph(graph) => json!({ "agent_json": graph }),
            GivenAgent::Edits { .. } | GivenAgent::Stored { .. } => {
                return Err(builder("gave no agent"));
            }
        };
        let request = self.client.post(&["agents", "fix"]).json(&body);
        match self.client.fetch::<FixAnswer>(request).await {
            Ok(fixed) => Ok(Ok(fixed)),
            Err(ClientError::Refused { body, .. }) if body["code"] == "INVALID_GRAPH" => {
                Ok(Err(Vec::deserialize(&body["errors"]).unwrap_or_default()))
            }
            Err(ClientError::Refused { detail, .. }) => Err(builder(detail)),
            Err(unreachable) => Err(self.server_failure(&unreachable)),
        }
    }

    async fn check(
        &self,
        task: &EvalTask,
        accepted: &AcceptedAgent,
    ) -> Result<&'static str, AttemptFailure> {
        for name in &task.expected.blocks {
            let Some(block) = find_block(&self.blocks, name) else {
                return Err(builder(format!("the task names “{name}”, which is no block")));
            };
            if !accepted.graph.nodes.iter().any(|node| node.block_id.as_str() == block.id) {
                return Err(builder(format!("does not use {name}")));
            }
        }
        let first = self.rehearse(&accepted.graph, None).await?;
        if !task.expected.state.contains(&first.state) {
            let failed: Vec<String> = first
                .failed
                .iter()
                .map(|failed| format!("{} failed: {}", failed.step, failed.error))
                .chain(first.unfilled.iter().map(|name| format!("{name} has no value")))
                .collect();
            let reason = format!("the state is {}. {}", first.state.as_str(), failed.join("; "));
            return Err(builder(reason.trim_end()));
        }
        for rehearsal in &task.expected.rehearsals {
            let report = self.rehearse(&accepted.graph, Some(rehearsal)).await?;
            if let Some(reason) = difference(rehearsal, &report.outputs) {
                // The state was as expected, so this is what the stages missed.
                return Err(failure(FailureCause::VerificationGap, reason));
            }
        }
        Ok(first.state.as_str())
    }

    async fn rehearse(
        &self,
        graph: &Graph,
        with: Option<&ExpectedRehearsal>,
    ) -> Result<RehearsalReport, AttemptFailure> {
        let mut body = json!({ "agent_json": graph });
        if let Some(rehearsal) = with {
            body["inputs"] = json!(rehearsal.inputs);
            body["pinned"] = json!(rehearsal.pinned);
        }
        let request = self.client.post(&["agents", "rehearse"]).json(&body);
        match self.client.fetch(request).await {
            Ok(report) => Ok(report),
            Err(ClientError::Refused { detail, .. }) => Err(builder(detail)),
            Err(unreachable) => Err(self.server_failure(&unreachable)),
        }
    }

    fn server_failure(&self, error: &ClientError) -> AttemptFailure {
        failure(FailureCause::Service, self.client.explain(error))
    }
}

fn answers(questions: &[UserQuestion], answer: &str) -> String {
    let lines: Vec<String> =
        questions.iter().map(|asked| format!("{}: {answer}", asked.question)).collect();
    lines.join("\n")
}

fn texts(questions: &[UserQuestion]) -> String {
    questions.iter().map(|asked| asked.question.as_str()).collect::<Vec<_>>().join(" ")
}

fn listed(problems: &[GraphProblem]) -> String {
    let listed: Vec<String> = problems
        .iter()
        .map(|found| match &found.path {
            Some(path) => format!("{} at {path}", found.code),
            None => found.code.clone(),
        })
        .collect();
    listed.join(", ")
}

fn spec_text(agent: &GivenAgent) -> Option<String> {
    match agent {
        GivenAgent::Spec(Value::String(text)) => Some(text.clone()),
        GivenAgent::Spec(value) | GivenAgent::Graph(value) => Some(value.to_string()),
        GivenAgent::Edits { .. } | GivenAgent::Stored { .. } => None,
    }
}

fn builder(reason: impl Into<String>) -> AttemptFailure {
    failure(FailureCause::Builder, reason)
}

fn service(error: GeneratorError) -> AttemptFailure {
    failure(FailureCause::Service, format!("{} ({})", error.message, error.kind))
}

fn failure(cause: FailureCause, reason: impl Into<String>) -> AttemptFailure {
    AttemptFailure { cause, reason: reason.into(), spec: None }
}
