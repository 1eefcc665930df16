//! Rehearses an agent: once with what the caller gave, then a few more times while something was not reached, and, if
//! asked, once more for each step that was answered for, with that step failing.

use std::collections::BTreeMap;
use std::time::Duration;

use graphs::names::NodeNames;
use graphs::samples::{self, SampleSchemas};
use graphs::schema;
use ports::PortResult;
use ports::call_services::AgentExecutionStarted;
use protocol::block::BlockKind;
use protocol::execution::{Execution, ExecutionStatus};
use protocol::graph::Graph;
use protocol::rehearsal::{Rehearsal, RehearsalReport};
use protocol::{ExecutionId, GraphId, NodeId, UserId};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::flow::{Flow, InnerAgents};
use super::node_answers::NodeAnswers;
use super::report::ReportBuilder;
use super::variations::{FirstRun, RunVariation, VariationPlanner};
use crate::execution::start_execution::StartExecution;
use crate::execution::wait_for_execution::{WaitUntil, wait_for_execution};
use crate::graph::BlockCatalog;
use crate::{Engine, EngineInner};
use graphs::catalog::BlockSpecs;

/// How many runs are made to reach everything, the first one among them.
const MAX_RUNS: usize = 4;
/// How many steps are let fail, one run each.
const MAX_FAILURES: usize = 20;

/// A request to rehearse an agent.
#[derive(Clone, Debug)]
pub struct RehearseAgent {
    /// The agent: a document, or a stored version.
    pub graph: Graph,
    pub is_stored: bool,
    /// Inputs that are required and absent are those of the recording, or made up.
    pub inputs: Map<String, Value>,
    /// Outputs by the name of a step or the id of a node.
    pub pinned: BTreeMap<String, Map<String, Value>>,
    /// An ended execution of the agent, whose outputs are used.
    pub recording: Option<ExecutionId>,
    pub seed: u64,
    pub use_model: bool,
    pub fail_each: bool,
    /// For all runs together.
    pub at_most: Duration,
}

/// Why a rehearsal did not start.
#[derive(Clone, Debug, PartialEq)]
pub enum RehearsalRefused {
    Start(Box<AgentExecutionStarted>),
    /// Pinned data for a step that the agent does not have.
    UnknownStep(String),
    /// The user has no such execution of this agent.
    NoRecording,
    /// The recorded execution has not ended.
    OpenRecording,
}

impl Engine {
    pub async fn rehearse(
        &self,
        user: &UserId,
        request: RehearseAgent,
    ) -> PortResult<Result<RehearsalReport, RehearsalRefused>> {
        let (inner, graph) = (&*self.inner, &request.graph);
        let names = NodeNames::of(graph, &inner.catalog);
        let pinned = match pinned_nodes(&request, &names) {
            Ok(pinned) => pinned,
            Err(unknown) => return Ok(Err(RehearsalRefused::UnknownStep(unknown))),
        };
        let recorded = match self.recording(user, &request).await? {
            Ok(recorded) => recorded,
            Err(refused) => return Ok(Err(refused)),
        };
        let rehearsal = Rehearsal {
            graph: (!request.is_stored).then(|| graph.clone()),
            pinned,
            recording: recorded.as_ref().map(|recorded| recorded.id.clone()),
            seed: request.seed,
            use_model: request.use_model,
            varied: Vec::new(),
        };
        let mut inputs = request.inputs.clone();
        let input_schema = schema::input_schema(graph, &inner.catalog);
        if let Some(recorded) = &recorded {
            add_recorded(&mut inputs, &recorded.request.inputs, &input_schema);
        }
        let made = made_inputs(&inner.catalog, graph, &inputs, request.seed);
        inputs.extend(made.clone());
        let runner = RehearsalRunner {
            engine: self,
            user,
            graph,
            rehearsal: &rehearsal,
            inputs: &inputs,
            deadline: Instant::now() + request.at_most,
        };
        let (first, answers) = match runner.run(&RunVariation::default()).await? {
            Ok(first) => first,
            Err(refused) => return Ok(Err(RehearsalRefused::Start(refused))),
        };
        let agents = InnerAgents::load(inner, user, graph).await?;
        let flow = Flow::new(graph, &agents, &inner.catalog);
        let mut report = ReportBuilder::new(graph, &names, &flow, &answers);
        report.add_run(inner, &first, &answers, Vec::new()).await?;
        if first.status == ExecutionStatus::Completed {
            let given = FirstRun {
                answers: &answers,
                inputs: &inputs,
                made: &made,
                input_schema: &input_schema,
                fails_each: request.fail_each,
            };
            runner.reach_more(&mut report, VariationPlanner::new(&flow, given)).await?;
        }
        let mut failures = Vec::new();
        if request.fail_each && first.status.is_final() {
            for (path, answered) in report.answered().into_iter().take(MAX_FAILURES) {
                if runner.is_over() {
                    break;
                }
                let failing = RunVariation::failure(path, &answered.step);
                if let Ok((execution, answers)) = runner.run(&failing).await? {
                    let step = answered.step;
                    failures.push(report.add_failure(inner, &execution, &answers, step).await?);
                }
            }
        }
        let mut report = report.finish(inner, &first, made).await?;
        report.failures = failures;
        Ok(Ok(report))
    }

    /// The execution whose outputs are used. One of another user or agent is not found.
    async fn recording(
        &self,
        user: &UserId,
        request: &RehearseAgent,
    ) -> PortResult<Result<Option<Execution>, RehearsalRefused>> {
        let Some(id) = &request.recording else { return Ok(Ok(None)) };
        let found = self.inner.ports.executions.get(user, id).await?;
        Ok(match found.filter(|found| found.graph_id == request.graph.id) {
            Some(found) if found.status.is_final() => Ok(Some(found)),
            Some(_) => Err(RehearsalRefused::OpenRecording),
            None => Err(RehearsalRefused::NoRecording),
        })
    }
}

/// Makes the runs of one rehearsal.
struct RehearsalRunner<'a> {
    engine: &'a Engine,
    user: &'a UserId,
    graph: &'a Graph,
    /// Of the first run.
    rehearsal: &'a Rehearsal,
    inputs: &'a Map<String, Value>,
    deadline: Instant,
}

impl RehearsalRunner<'_> {
    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Makes more runs while something was not reached and there is something left to try.
    async fn reach_more(
        &self,
        report: &mut ReportBuilder<'_>,
        mut planner: VariationPlanner<'_>,
    ) -> PortResult<()> {
        while report.runs.len() < MAX_RUNS && !self.is_over() {
            let Some(varied) = planner.next(&report.coverage) else { return Ok(()) };
            // Inputs that do not fit are not tried.
            let Ok((execution, answers)) = self.run(&varied).await? else { continue };
            let inner = &self.engine.inner;
            report.add_run(inner, &execution, &answers, varied.described).await?;
        }
        Ok(())
    }

    async fn run(
        &self,
        varied: &RunVariation,
    ) -> PortResult<Result<(Box<Execution>, NodeAnswers), Box<AgentExecutionStarted>>> {
        let mut inputs = self.inputs.clone();
        inputs.extend(varied.inputs.clone());
        let start = StartExecution {
            version: Some(self.graph.version),
            inputs,
            dry_run: true,
            rehearsal: Some(Rehearsal { varied: varied.nodes.clone(), ..self.rehearsal.clone() }),
            ..StartExecution::of(self.graph.id.clone())
        };
        let started = match self.engine.start_execution(self.user, start).await? {
            AgentExecutionStarted::Started(execution) => execution,
            refused => return Ok(Err(Box::new(refused))),
        };
        let inner: &EngineInner = &self.engine.inner;
        let (until, deadline) = (WaitUntil::EndedOrReview, Some(self.deadline));
        let ended = wait_for_execution(inner, self.user, &started.id, deadline, until).await?;
        let ended = ended.map_or(started, Box::new);
        if !ended.status.is_final() {
            // No request waits for it any longer.
            self.engine.stop_execution(self.user, &ended.id).await?;
        }
        let answers = NodeAnswers::load(inner, &ended, self.graph).await?;
        // Every run of a rehearsal is a dry run.
        let answers = answers.unwrap_or_else(|| NodeAnswers::of_block(inner));
        Ok(Ok((ended, answers)))
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

/// Adds the inputs of a recording that were not given and that the agent still has.
fn add_recorded(inputs: &mut Map<String, Value>, recorded: &Map<String, Value>, schema: &Value) {
    let known = schema.get("properties").and_then(Value::as_object);
    for (name, value) in recorded {
        let of_input = known.and_then(|known| known.get(name));
        let fits = of_input
            .is_some_and(|of_input| schema::value_problem(value.clone(), of_input).is_none());
        if fits && inputs.get(name).is_none_or(Value::is_null) {
            inputs.insert(name.clone(), value.clone());
        }
    }
}

/// A value for each required input that is absent.
pub(crate) fn made_inputs(
    catalog: &BlockCatalog,
    graph: &Graph,
    inputs: &Map<String, Value>,
    seed: u64,
) -> Map<String, Value> {
    let schema = schema::input_schema(graph, catalog);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let absent: Vec<&str> = required
        .filter_map(Value::as_str)
        .filter(|name| inputs.get(*name).is_none_or(Value::is_null))
        .collect();
    if absent.is_empty() {
        return Map::new();
    }
    let inferred = SampleSchemas::of(graph, catalog);
    let made = absent.into_iter().map(|name| {
        let node = graph.nodes.iter().find(|node| {
            schema::interface_name(node) == Some(name)
                && catalog.spec(&node.block_id).is_some_and(|spec| spec.kind == BlockKind::Input)
        });
        let of_input = &schema["properties"][name];
        let used_as = node.and_then(|node| inferred.pin(&node.id, "result"));
        let value = used_as.map(|used_as| samples::sample(used_as, name, seed));
        let fits = value.filter(|value| schema::value_problem(value.clone(), of_input).is_none());
        (name.to_owned(), fits.unwrap_or_else(|| samples::sample(of_input, name, seed)))
    });
    made.collect()
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
