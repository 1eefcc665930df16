//! What the runs of a rehearsal showed.

use std::collections::{HashMap, HashSet};

use graphs::names::NodeNames;
use graphs::pins;
use ports::PortResult;
use protocol::NodeId;
use protocol::block::BlockKind;
use protocol::execution::{Execution, ExecutionStatus};
use protocol::graph::Graph;
use protocol::rehearsal::{
    AgentState, AnsweredBy, AnsweredStep, NodeChange, NodeVariation, RehearsalReport,
    RehearsalVariation, RehearsedBranch, RehearsedFailure, RehearsedRun, StepFailure,
};
use protocol::text::cut_end;
use serde_json::{Map, Value};

use super::coverage::{Coverage, RunCoverage};
use super::flow::{Flow, FlowNode};
use super::node_answers::NodeAnswers;
use crate::EngineInner;
use crate::execution::execution_view;

const MAX_FAILURES: usize = 20;
const ERROR_CHARS: usize = 500;

/// Collects the runs of a rehearsal.
pub(crate) struct ReportBuilder<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) names: &'a NodeNames,
    pub(crate) flow: &'a Flow<'a>,
    /// The answers of the first run.
    pub(crate) answers: &'a NodeAnswers,
    pub(crate) coverage: Coverage,
    pub(crate) runs: Vec<RehearsedRun>,
    /// Nodes that failed in any run.
    failed: Vec<NodeId>,
    /// The outputs that the first run filled.
    first_outputs: Vec<String>,
    /// Whether a step was let fail in order to fill an output.
    was_let_fail: bool,
}

impl<'a> ReportBuilder<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        names: &'a NodeNames,
        flow: &'a Flow<'a>,
        answers: &'a NodeAnswers,
    ) -> Self {
        Self {
            graph,
            names,
            flow,
            answers,
            coverage: Coverage::default(),
            runs: Vec::new(),
            failed: Vec::new(),
            first_outputs: Vec::new(),
            was_let_fail: false,
        }
    }

    /// Adds a run, with what was different in it.
    pub(crate) async fn add_run(
        &mut self,
        inner: &EngineInner,
        execution: &Execution,
        answers: &NodeAnswers,
        varied: Vec<RehearsalVariation>,
    ) -> PortResult<()> {
        let added = self.coverage.add(inner, execution, self.graph, answers).await?;
        let filled = self.filled(&added);
        let lets_fail = |varied: &NodeVariation| varied.change == NodeChange::Fail;
        self.was_let_fail |= !filled.is_empty() && answers.rehearsal.varied.iter().any(lets_fail);
        self.failed.extend(added.failed.iter().map(|(node, _)| node.clone()));
        let run = RehearsedRun {
            execution_id: execution.id.clone(),
            varied,
            filled,
            failed: self.failures(&added),
        };
        if self.runs.is_empty() {
            self.first_outputs = self.outputs_in(&added.fired);
        }
        self.runs.push(run);
        Ok(())
    }

    /// Adds a run in which one step failed. It is reported apart from the other runs.
    pub(crate) async fn add_failure(
        &mut self,
        inner: &EngineInner,
        execution: &Execution,
        answers: &NodeAnswers,
        step: String,
    ) -> PortResult<RehearsedFailure> {
        let added = self.coverage.add(inner, execution, self.graph, answers).await?;
        self.was_let_fail |= !self.filled(&added).is_empty();
        let filled = self.outputs_in(&added.fired);
        let lost = self.first_outputs.iter().filter(|name| !filled.contains(name));
        Ok(RehearsedFailure {
            step,
            execution_id: execution.id.clone(),
            unfilled: lost.cloned().collect(),
            failed: self.failures(&added),
        })
    }

    /// The names of the outputs that the run filled first.
    fn filled(&self, added: &RunCoverage) -> Vec<String> {
        self.outputs_in(&added.newly_fired)
    }

    /// The names of the outputs among these nodes.
    fn outputs_in(&self, nodes: &HashSet<NodeId>) -> Vec<String> {
        let is_output = |at: &&FlowNode<'_>| {
            !at.is_inside() && at.spec.kind == BlockKind::Output && nodes.contains(&at.node.id)
        };
        self.flow.nodes.iter().filter(is_output).map(|node| node.name.clone()).collect()
    }

    fn failures(&self, added: &RunCoverage) -> Vec<StepFailure> {
        let name = |node: &NodeId| {
            self.names.get(node).map(|name| name.as_str().to_owned()).unwrap_or_default()
        };
        let first = added.failed.iter().take(MAX_FAILURES);
        first
            .map(|(node, error)| StepFailure {
                step: name(node),
                node_id: node.clone(),
                error: cut_end(error, ERROR_CHARS),
            })
            .collect()
    }

    /// The steps that were answered for, with the paths of their nodes. It is not known which steps inside another agent
    /// ran, so all that would be answered for are listed.
    pub(crate) fn answered(&self) -> Vec<(Vec<NodeId>, AnsweredStep)> {
        let mut answered = Vec::new();
        for node in &self.flow.nodes {
            let has_run = node.path.first().is_some_and(|own| self.coverage.fired.contains(own));
            let by = match node.is_inside() {
                true => self.answers.answered_by(node.spec, None, &node.node.input_default),
                false => self.coverage.answered.get(&node.node.id).copied(),
            };
            let is_decided = node.spec.kind == BlockKind::HumanInTheLoop;
            let by = by.or_else(|| is_decided.then_some(AnsweredBy::Decision));
            if let Some(by) = by.filter(|_| has_run) {
                answered.push((node.path.clone(), AnsweredStep { step: node.name.clone(), by }));
            }
        }
        answered
    }

    pub(crate) async fn finish(
        self,
        inner: &EngineInner,
        first: &Execution,
        made_inputs: Map<String, Value>,
    ) -> PortResult<RehearsalReport> {
        let view = execution_view::load_outputs(inner, first).await?;
        let mut report = RehearsalReport {
            execution_id: first.id.clone(),
            state: AgentState::Valid,
            nodes_fired: Vec::new(),
            not_fired: Vec::new(),
            branches: self.branches(),
            outputs: execution_view::by_name(view.unwrap_or_default()),
            unfilled: Vec::new(),
            failed: self.runs.first().map(|first| first.failed.clone()).unwrap_or_default(),
            answered: self.answered().into_iter().map(|(_, answered)| answered).collect(),
            made_inputs,
            runs: Vec::new(),
            failures: Vec::new(),
        };
        for node in self.flow.nodes.iter().filter(|node| !node.is_inside()) {
            let (name, kind) = (node.name.clone(), node.spec.kind);
            match (self.coverage.fired.contains(&node.node.id), kind) {
                (_, BlockKind::Note) => {}
                (true, _) => report.nodes_fired.push(name),
                (false, BlockKind::Output) => report.unfilled.push(name),
                (false, _) => report.not_fired.push(name),
            }
        }
        report.state = self.state(first, &report);
        report.runs = self.runs;
        Ok(report)
    }

    /// How far the runs prove the agent. The first run must not fail, and a step that only later runs reached must succeed
    /// in one of them.
    fn state(&self, first: &Execution, report: &RehearsalReport) -> AgentState {
        let never_succeeded =
            self.failed.iter().any(|node| !self.coverage.succeeded.contains(node));
        let is_proven = report.failed.is_empty() && report.unfilled.is_empty() && !never_succeeded;
        match first.status {
            ExecutionStatus::Completed if is_proven => {
                match report.answered.is_empty() && !self.was_let_fail {
                    true => AgentState::Verified,
                    false => AgentState::Rehearsed,
                }
            }
            status if status.is_final() => AgentState::Valid,
            _ => AgentState::NotVerifiable,
        }
    }

    /// The linked outputs of steps with several of them: each is a way that a run can take.
    fn branches(&self) -> Vec<RehearsedBranch> {
        let mut linked: HashMap<&NodeId, Vec<&str>> = HashMap::new();
        for link in &self.graph.links {
            let pins = linked.entry(&link.source_id).or_default();
            let pin = pins::base(&link.source_name);
            if !pins.contains(&pin) {
                pins.push(pin);
            }
        }
        let mut found = Vec::new();
        for node in &self.graph.nodes {
            let (Some(pins), Some(name)) = (linked.get(&node.id), self.names.get(&node.id)) else {
                continue;
            };
            if pins.len() < 2 {
                continue;
            }
            found.extend(pins.iter().map(|pin| {
                let taken_in = self.coverage.emitted_in(&node.id, pin).cloned();
                RehearsedBranch {
                    step: name.as_str().to_owned(),
                    pin: (*pin).to_owned(),
                    taken: taken_in.is_some(),
                    taken_in,
                }
            }));
        }
        found
    }
}
