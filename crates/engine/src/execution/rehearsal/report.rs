//! What a rehearsal showed, read from the journal of its execution.

use std::collections::{HashMap, HashSet};

use graphs::catalog::BlockSpecs;
use graphs::names::NodeNames;
use graphs::pins;
use ports::PortResult;
use protocol::NodeId;
use protocol::block::BlockKind;
use protocol::execution::{Execution, ExecutionStatus, NodeEvent};
use protocol::graph::Graph;
use protocol::rehearsal::{
    AgentState, AnsweredStep, Rehearsal, RehearsalReport, RehearsedBranch, StepFailure,
};
use protocol::text::cut_end;
use serde_json::Map;

use super::answer::answered_by;
use crate::EngineInner;
use crate::execution::execution_view;

const MAX_FAILURES: usize = 20;
const ERROR_CHARS: usize = 500;

pub(crate) async fn report(
    inner: &EngineInner,
    execution: &Execution,
    graph: &Graph,
    rehearsal: &Rehearsal,
) -> PortResult<RehearsalReport> {
    let mut seen = Coverage::default();
    execution_view::read_journal(inner, execution, |event| seen.take(event)).await?;
    let view = execution_view::load_outputs(inner, execution).await?;
    let names = NodeNames::of(graph, &inner.catalog);
    let step = |id: &NodeId| names.get(id).map(|name| name.as_str().to_owned());
    let has_model = inner.model.summarizes();
    let mut report = RehearsalReport {
        execution_id: execution.id.clone(),
        state: AgentState::Valid,
        nodes_fired: Vec::new(),
        not_fired: Vec::new(),
        branches: branches(graph, &names, &seen),
        outputs: execution_view::by_name(view.unwrap_or_default()),
        unfilled: Vec::new(),
        failed: Vec::new(),
        answered: Vec::new(),
        made_inputs: Map::new(),
        failures: Vec::new(),
    };
    for node in &graph.nodes {
        let (Some(spec), Some(name)) = (inner.catalog.spec(&node.block_id), step(&node.id)) else {
            continue;
        };
        if spec.kind == BlockKind::Note {
            continue;
        }
        if seen.fired.contains(&node.id) {
            if let Some(by) = answered_by(spec, rehearsal, Some(&node.id), has_model) {
                report.answered.push(AnsweredStep { step: name.clone(), by });
            }
            report.nodes_fired.push(name);
        } else if spec.kind == BlockKind::Output {
            report.unfilled.push(name);
        } else {
            report.not_fired.push(name);
        }
    }
    let failed = seen.failed.iter().take(MAX_FAILURES);
    report.failed = failed
        .map(|(node, error)| StepFailure {
            step: step(node).unwrap_or_default(),
            node_id: node.clone(),
            error: cut_end(error, ERROR_CHARS),
        })
        .collect();
    report.state = state(execution, &report);
    Ok(report)
}

/// How far this rehearsal proves the agent.
fn state(execution: &Execution, report: &RehearsalReport) -> AgentState {
    match execution.status {
        ExecutionStatus::Completed if report.failed.is_empty() && report.unfilled.is_empty() => {
            match report.answered.is_empty() {
                true => AgentState::Verified,
                false => AgentState::Rehearsed,
            }
        }
        status if status.is_final() => AgentState::Valid,
        _ => AgentState::NotVerifiable,
    }
}

/// What the journal shows of each node.
#[derive(Default)]
struct Coverage {
    fired: HashSet<NodeId>,
    emitted: HashMap<NodeId, HashSet<String>>,
    /// The first error of each node.
    failed: Vec<(NodeId, String)>,
}

impl Coverage {
    fn take(&mut self, event: NodeEvent) {
        let is_known = self.failed.iter().any(|(node, _)| *node == event.node);
        if let Some(error) = event.error.filter(|_| !is_known) {
            self.failed.push((event.node.clone(), error));
        }
        if !event.outputs.is_empty() {
            let pins = self.emitted.entry(event.node.clone()).or_default();
            pins.extend(event.outputs.into_iter().map(|(pin, _)| pin));
        }
        self.fired.insert(event.node);
    }
}

/// The linked outputs of steps with several of them: each is a way that the run can take.
fn branches(graph: &Graph, names: &NodeNames, seen: &Coverage) -> Vec<RehearsedBranch> {
    let mut linked: HashMap<&NodeId, Vec<&str>> = HashMap::new();
    for link in &graph.links {
        let pins = linked.entry(&link.source_id).or_default();
        let pin = pins::base(&link.source_name);
        if !pins.contains(&pin) {
            pins.push(pin);
        }
    }
    let mut found = Vec::new();
    for node in &graph.nodes {
        let (Some(pins), Some(name)) = (linked.get(&node.id), names.get(&node.id)) else {
            continue;
        };
        if pins.len() < 2 {
            continue;
        }
        let emitted = seen.emitted.get(&node.id);
        found.extend(pins.iter().map(|pin| RehearsedBranch {
            step: name.as_str().to_owned(),
            pin: (*pin).to_owned(),
            taken: emitted.is_some_and(|emitted| emitted.contains(*pin)),
        }));
    }
    found
}
