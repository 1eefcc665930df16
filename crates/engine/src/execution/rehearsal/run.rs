//! Rehearses an agent: once as it is, and, if asked, once more for each step that was answered for, with that step
//! failing.

use std::collections::BTreeMap;
use std::time::Duration;

use graphs::names::NodeNames;
use graphs::samples;
use graphs::schema;
use ports::PortResult;
use ports::call_services::AgentExecutionStarted;
use protocol::execution::Execution;
use protocol::graph::Graph;
use protocol::rehearsal::{AgentState, Rehearsal, RehearsalReport, RehearsedFailure};
use protocol::{GraphId, NodeId, UserId};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::report::report;
use crate::Engine;
use crate::execution::start_execution::StartExecution;
use crate::execution::wait_for_execution::{WaitUntil, wait_for_execution};

/// How many steps are let fail, one rehearsal each.
const MAX_FAILURES: usize = 20;

/// A request to rehearse an agent.
#[derive(Clone, Debug)]
pub struct RehearseAgent {
    /// The agent: a document, or a stored version.
    pub graph: Graph,
    pub is_stored: bool,
    /// Inputs that are required and absent are made up.
    pub inputs: Map<String, Value>,
    /// Outputs by the name of a step or the id of a node.
    pub pinned: BTreeMap<String, Map<String, Value>>,
    pub seed: u64,
    pub use_model: bool,
    pub fail_each: bool,
    /// For all rehearsals together.
    pub at_most: Duration,
}

/// Why a rehearsal did not start.
#[derive(Clone, Debug, PartialEq)]
pub enum RehearsalRefused {
    Start(Box<AgentExecutionStarted>),
    /// Pinned data for a step that the agent does not have.
    UnknownStep(String),
}

impl Engine {
    pub async fn rehearse(
        &self,
        user: &UserId,
        request: RehearseAgent,
    ) -> PortResult<Result<RehearsalReport, RehearsalRefused>> {
        let deadline = Instant::now() + request.at_most;
        let catalog = &self.inner.catalog;
        let names = NodeNames::of(&request.graph, catalog);
        let pinned = match pinned_nodes(&request, &names) {
            Ok(pinned) => pinned,
            Err(unknown) => return Ok(Err(RehearsalRefused::UnknownStep(unknown))),
        };
        let rehearsal = Rehearsal {
            graph: (!request.is_stored).then(|| request.graph.clone()),
            pinned,
            seed: request.seed,
            use_model: request.use_model,
            failing: None,
        };
        let made = made_inputs(&request, &schema::input_schema(&request.graph, catalog));
        let mut inputs = request.inputs.clone();
        inputs.extend(made.clone());
        let first = match self.run_once(user, &request.graph, &inputs, &rehearsal, deadline).await?
        {
            Ok(first) => first,
            Err(refused) => return Ok(Err(RehearsalRefused::Start(refused))),
        };
        let mut report = report(&self.inner, &first, &request.graph, &rehearsal).await?;
        report.made_inputs = made;
        if request.fail_each && report.state != AgentState::NotVerifiable {
            let answered: Vec<String> =
                report.answered.iter().map(|answered| answered.step.clone()).collect();
            for step in answered.into_iter().take(MAX_FAILURES) {
                let node = request
                    .graph
                    .nodes
                    .iter()
                    .find(|node| names.get(&node.id).is_some_and(|name| name.as_str() == step));
                let Some(node) = node.filter(|_| Instant::now() < deadline) else { break };
                let failing = Rehearsal { failing: Some(node.id.clone()), ..rehearsal.clone() };
                let run = self.run_once(user, &request.graph, &inputs, &failing, deadline).await?;
                if let Ok(execution) = run {
                    report.failures.push(
                        self.failure(&execution, &request.graph, &failing, step, &node.id).await?,
                    );
                }
            }
        }
        Ok(Ok(report))
    }

    async fn run_once(
        &self,
        user: &UserId,
        graph: &Graph,
        inputs: &Map<String, Value>,
        rehearsal: &Rehearsal,
        deadline: Instant,
    ) -> PortResult<Result<Box<Execution>, Box<AgentExecutionStarted>>> {
        let start = StartExecution {
            version: Some(graph.version),
            inputs: inputs.clone(),
            dry_run: true,
            rehearsal: Some(rehearsal.clone()),
            ..StartExecution::of(graph.id.clone())
        };
        let started = match self.start_execution(user, start).await? {
            AgentExecutionStarted::Started(execution) => execution,
            refused => return Ok(Err(Box::new(refused))),
        };
        let until = WaitUntil::EndedOrReview;
        let ended =
            wait_for_execution(&self.inner, user, &started.id, Some(deadline), until).await?;
        let ended = ended.unwrap_or(*started);
        if !ended.status.is_final() {
            // No request waits for it any longer.
            self.stop_execution(user, &ended.id).await?;
        }
        Ok(Ok(Box::new(ended)))
    }

    async fn failure(
        &self,
        execution: &Execution,
        graph: &Graph,
        rehearsal: &Rehearsal,
        step: String,
        node: &NodeId,
    ) -> PortResult<RehearsedFailure> {
        let mut report = report(&self.inner, execution, graph, rehearsal).await?;
        report.failed.retain(|failed| failed.node_id != *node);
        Ok(RehearsedFailure {
            step,
            execution_id: execution.id.clone(),
            unfilled: report.unfilled,
            failed: report.failed,
        })
    }
}

fn pinned_nodes(
    request: &RehearseAgent,
    names: &NodeNames,
) -> Result<BTreeMap<NodeId, Map<String, Value>>, String> {
    let mut pinned = BTreeMap::new();
    for (step, outputs) in &request.pinned {
        let node = request.graph.nodes.iter().find(|node| {
            node.id.as_str() == step
                || names.get(&node.id).is_some_and(|name| name.as_str() == step)
        });
        match node {
            Some(node) => pinned.insert(node.id.clone(), outputs.clone()),
            None => return Err(step.clone()),
        };
    }
    Ok(pinned)
}

/// A value for each required input that is absent.
fn made_inputs(request: &RehearseAgent, schema: &Value) -> Map<String, Value> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let absent = required
        .filter_map(Value::as_str)
        .filter(|name| request.inputs.get(*name).is_none_or(Value::is_null));
    absent
        .map(|name| {
            let of_input = &schema["properties"][name];
            (name.to_owned(), samples::sample(of_input, name, request.seed))
        })
        .collect()
}

impl StartExecution {
    /// Starts the active version of the agent with nothing else.
    pub fn of(graph_id: GraphId) -> Self {
        Self {
            graph_id,
            version: None,
            inputs: Map::new(),
            dry_run: false,
            rehearsal: None,
            safe_mode: None,
            permissions: Default::default(),
            id: None,
            copilot_depth: 0,
        }
    }
}
