//! What the runs of a rehearsal reached, read from their journals.

use std::collections::{HashMap, HashSet};

use graphs::catalog::BlockSpecs;
use graphs::pins;
use ports::PortResult;
use protocol::execution::{Execution, ExecutionStatus, NodeEvent};
use protocol::graph::Graph;
use protocol::rehearsal::AnsweredBy;
use protocol::{ExecutionId, NodeId};

use super::node_answers::NodeAnswers;
use crate::EngineInner;
use crate::execution::execution_view;
use crate::execution::plan::ExecutionPlan;
use crate::graph::BlockCatalog;

/// The union over all runs.
#[derive(Default)]
pub(crate) struct Coverage {
    pub(crate) fired: HashSet<NodeId>,
    /// The nodes that ran to their end at least once.
    pub(crate) succeeded: HashSet<NodeId>,
    /// The outputs that got a value, with the first run in which they did.
    pub(crate) emitted: HashMap<NodeId, HashMap<String, ExecutionId>>,
    pub(crate) answered: HashMap<NodeId, AnsweredBy>,
}

/// What one run added.
#[derive(Default)]
pub(crate) struct RunCoverage {
    pub(crate) fired: HashSet<NodeId>,
    /// The nodes that no earlier run fired.
    pub(crate) newly_fired: HashSet<NodeId>,
    /// The first error of each node.
    pub(crate) failed: Vec<(NodeId, String)>,
}

impl Coverage {
    /// Adds a run. Nodes that were let fail do not count as failed.
    pub(crate) async fn add(
        &mut self,
        inner: &EngineInner,
        execution: &Execution,
        graph: &Graph,
        answers: &NodeAnswers,
    ) -> PortResult<RunCoverage> {
        let mut plan = ExecutionPlan::new(graph, &inner.catalog).ok();
        if let Some(plan) = &mut plan {
            plan.seed(&execution.request.inputs);
        }
        let mut reader = RunReader {
            coverage: self,
            run: RunCoverage::default(),
            execution: &execution.id,
            plan,
            answers,
            blocks: graph.nodes.iter().map(|node| (&node.id, &node.block_id)).collect(),
            catalog: &inner.catalog,
        };
        execution_view::read_journal(inner, execution, |event| reader.take(event)).await?;
        Ok(reader.run)
    }

    /// Whether a value came out of the output.
    pub(crate) fn has_emitted(&self, node: &NodeId, pin: &str) -> bool {
        self.emitted_in(node, pin).is_some()
    }

    /// The first run in which a value came out of the output.
    pub(crate) fn emitted_in(&self, node: &NodeId, pin: &str) -> Option<&ExecutionId> {
        self.emitted.get(node)?.get(pin)
    }
}

struct RunReader<'a> {
    coverage: &'a mut Coverage,
    run: RunCoverage,
    execution: &'a ExecutionId,
    /// Knows the inputs of each node execution, on which it depends whether it was answered for.
    plan: Option<ExecutionPlan>,
    answers: &'a NodeAnswers,
    blocks: HashMap<&'a NodeId, &'a protocol::BlockId>,
    catalog: &'a BlockCatalog,
}

impl RunReader<'_> {
    fn take(&mut self, event: NodeEvent) {
        self.note_answer(&event.node);
        if let Some(plan) = &mut self.plan
            && plan.apply(&event).is_err()
        {
            self.plan = None;
        }
        self.run.fired.insert(event.node.clone());
        if self.coverage.fired.insert(event.node.clone()) {
            self.run.newly_fired.insert(event.node.clone());
        }
        if event.status == Some(ExecutionStatus::Completed) {
            self.coverage.succeeded.insert(event.node.clone());
        }
        let is_known = self.run.failed.iter().any(|(node, _)| *node == event.node);
        if let Some(error) = event.error.filter(|_| !is_known && !self.answers.fails(&event.node)) {
            self.run.failed.push((event.node.clone(), error));
        }
        let emitted = self.coverage.emitted.entry(event.node).or_default();
        for (pin, _) in event.outputs {
            emitted.entry(pin).or_insert_with(|| self.execution.clone());
        }
    }

    fn note_answer(&mut self, node: &NodeId) {
        if self.coverage.answered.contains_key(node) {
            return;
        }
        let Some(spec) = self.blocks.get(node).and_then(|block| self.catalog.spec(block)) else {
            return;
        };
        let inputs = self.plan.as_ref().map(|plan| plan.upcoming(node)).unwrap_or_default();
        let inputs = pins::merge(inputs).unwrap_or_default();
        if let Some(by) = self.answers.answered_by(spec, Some(node), &inputs) {
            self.coverage.answered.insert(node.clone(), by);
        }
    }
}
