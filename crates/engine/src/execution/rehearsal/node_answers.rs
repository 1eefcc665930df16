//! How the nodes of one execution are answered for in a rehearsal.

use graphs::samples::{SampleSchemas, outputs};
use ports::PortResult;
use ports::block::ReviewRequest;
use protocol::NodeId;
use protocol::block::{BlockKind, BlockSpec};
use protocol::execution::Execution;
use protocol::graph::Graph;
use protocol::rehearsal::{AnsweredBy, NodeChange, Rehearsal};
use protocol::review::ReviewDecision;
use protocol::tool::ToolEffect;
use serde_json::{Map, Value};

use super::recording::{Recording, load_recording};
use crate::EngineInner;
use crate::execution::AUTOPILOT;

/// Fixed for an execution: the same at every attempt, and known again when it is reported.
pub(crate) struct NodeAnswers {
    pub(crate) rehearsal: Rehearsal,
    pub(crate) schemas: SampleSchemas,
    pub(crate) recording: Recording,
    has_model: bool,
}

impl NodeAnswers {
    /// `None` if the execution is not a rehearsal.
    pub(crate) async fn load(
        inner: &EngineInner,
        execution: &Execution,
        graph: &Graph,
    ) -> PortResult<Option<Self>> {
        let Some(rehearsal) = execution.request.rehearsal() else { return Ok(None) };
        let recording = match &rehearsal.recording {
            Some(id) => match inner.ports.executions.get(&execution.user_id, id).await? {
                Some(recorded) => load_recording(inner, &recorded).await?,
                // It was deleted meanwhile.
                None => Recording::default(),
            },
            None => Recording::default(),
        };
        let schemas = SampleSchemas::of(graph, &inner.catalog);
        Ok(Some(Self { rehearsal, schemas, recording, has_model: inner.model.summarizes() }))
    }

    /// For a block that runs on its own.
    pub(crate) fn of_block(inner: &EngineInner) -> Self {
        Self {
            rehearsal: Rehearsal { use_model: true, ..Rehearsal::default() },
            schemas: SampleSchemas::default(),
            recording: Recording::default(),
            has_model: inner.model.summarizes(),
        }
    }

    /// Who answers for the block; `None` if it runs: blocks without effects do, and those that only pass values on.
    pub(crate) fn answered_by(
        &self,
        spec: &BlockSpec,
        node: Option<&NodeId>,
        inputs: &Map<String, Value>,
    ) -> Option<AnsweredBy> {
        if node.is_some_and(|node| self.rehearsal.pinned.contains_key(node)) {
            return Some(AnsweredBy::Pinned);
        }
        let is_recorded = node.is_some_and(|node| self.recording.contains_key(node));
        if spec.kind == BlockKind::HumanInTheLoop {
            let is_rejected = node.is_some_and(|node| self.rejects(node));
            return (is_recorded && !is_rejected).then_some(AnsweredBy::Recording);
        }
        if !self.is_answered(spec, inputs) {
            return None;
        }
        let is_made_up = node.is_some_and(|node| self.made_up(node).next().is_some());
        Some(match () {
            () if is_made_up => AnsweredBy::Sample,
            () if is_recorded => AnsweredBy::Recording,
            () if self.rehearsal.use_model && self.has_model => AnsweredBy::Model,
            () => AnsweredBy::Sample,
        })
    }

    /// Whether the block does not run, whatever it is answered with.
    fn is_answered(&self, spec: &BlockSpec, inputs: &Map<String, Value>) -> bool {
        if spec.reaches_outside(inputs) {
            return true;
        }
        if matches!(spec.kind, BlockKind::Agent | BlockKind::Input | BlockKind::Output) {
            return false;
        }
        // The copilot's turn is a dry run itself.
        if spec.id == AUTOPILOT {
            return !self.rehearsal.use_model;
        }
        // Blocks that ask the model may ask it, if there is one.
        if spec.asks_model() {
            return !(self.rehearsal.use_model && self.has_model);
        }
        spec.effect != ToolEffect::None || spec.kind == BlockKind::Ai || spec.sensitive
    }

    pub(crate) fn fails(&self, node: &NodeId) -> bool {
        self.rehearsal.changes(node).any(|change| *change == NodeChange::Fail)
    }

    pub(crate) fn rejects(&self, node: &NodeId) -> bool {
        self.rehearsal.changes(node).any(|change| *change == NodeChange::Reject)
    }

    fn made_up<'a>(&'a self, node: &'a NodeId) -> impl Iterator<Item = &'a NodeChange> {
        let changes = self.rehearsal.changes(node);
        changes.filter(|one| matches!(one, NodeChange::Branch { .. } | NodeChange::Answer { .. }))
    }

    /// Decides instead of a person.
    pub(crate) fn decide(&self, node: Option<&NodeId>, asked: ReviewRequest) -> ReviewDecision {
        let approved = !node.is_some_and(|node| self.rejects(node));
        let message = if approved { "Approved automatically." } else { "Rejected automatically." };
        ReviewDecision { approved, data: asked.payload, message: Some(message.to_owned()) }
    }

    /// Outputs made from the schemas of the block and the links that leave it.
    pub(crate) fn sample(&self, spec: &BlockSpec, node: Option<&NodeId>) -> Map<String, Value> {
        let changes = || node.into_iter().flat_map(|node| self.made_up(node));
        let branch = changes().find_map(|change| match change {
            NodeChange::Branch { pin } => Some(pin.as_str()),
            _ => None,
        });
        let schemas = node.and_then(|node| self.schemas.node(node));
        let mut made = outputs(spec, schemas, self.rehearsal.seed, branch);
        for change in changes() {
            if let NodeChange::Answer { pin, value } = change {
                made.insert(pin.clone(), value.clone());
            }
        }
        made
    }
}
