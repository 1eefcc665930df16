//! Rehearsals: runs of an agent in which nothing outside the server is touched.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph::Graph;
use crate::ids::{ExecutionId, NodeId};
use crate::text_enum::text_enum;

/// How a rehearsal answers for the blocks that would act or reach outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rehearsal {
    /// The agent, if it is not a stored version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Graph>,
    /// Outputs by node and pin. They are used before anything else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pinned: BTreeMap<NodeId, Map<String, Value>>,
    /// An earlier execution whose outputs are used for blocks that have no pinned ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<ExecutionId>,
    /// Makes the same data each time.
    #[serde(default)]
    pub seed: u64,
    /// Whether the model may play blocks that have no pinned or recorded outputs. Otherwise their outputs are made from
    /// their schemas.
    #[serde(default)]
    pub use_model: bool,
    /// What is different at single nodes, in order to reach what other runs did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<NodeVariation>,
}

impl Rehearsal {
    /// The changes at a node of the agent itself.
    pub fn changes<'a>(&'a self, node: &'a NodeId) -> impl Iterator<Item = &'a NodeChange> {
        let at_node =
            |varied: &&NodeVariation| varied.path.as_slice() == std::slice::from_ref(node);
        self.varied.iter().filter(at_node).map(|varied| &varied.change)
    }

    /// The rehearsal of an agent that the node runs. Pinned and recorded outputs belong to the nodes of the outer agent.
    pub fn of_child(&self, node: &NodeId) -> Self {
        let inside = self.varied.iter().filter_map(|varied| match varied.path.split_first() {
            Some((first, rest)) if first == node && !rest.is_empty() => {
                Some(NodeVariation { path: rest.to_vec(), change: varied.change.clone() })
            }
            _ => None,
        });
        Self {
            seed: self.seed,
            use_model: self.use_model,
            varied: inside.collect(),
            ..Self::default()
        }
    }
}

/// A change at one node, for one run of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeVariation {
    /// The node, after the nodes that run the agents around it.
    pub path: Vec<NodeId>,
    pub change: NodeChange,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NodeChange {
    /// It fails.
    Fail,
    /// What it asks a person to approve is rejected.
    Reject,
    /// The made-up answer takes this output: an output for errors, or one of two branches.
    Branch { pin: String },
    /// The made-up answer has this value.
    Answer { pin: String, value: Value },
}

text_enum! {
    /// How far an agent has been checked. Only `rehearsed` and `verified` agents are ready to use.
    #[derive(Hash, utoipa::ToSchema)]
    pub enum AgentState {
        /// It has errors.
        Draft = "draft",
        /// It has no errors, but was not rehearsed, or its rehearsal failed.
        Valid = "valid",
        /// The runs of a rehearsal filled every output; some blocks were answered for, or let fail.
        Rehearsed = "rehearsed",
        /// The runs of a rehearsal filled every output, and every block really ran.
        Verified = "verified",
        /// It needs credentials or other set-up first.
        NeedsSetup = "needs_setup",
        /// It cannot be rehearsed to an end.
        NotVerifiable = "not_verifiable",
        /// It needs blocks or agents that do not exist here, or the same failure came back after a repair.
        Blocked = "blocked",
    }
}

impl AgentState {
    pub fn is_ready(self) -> bool {
        matches!(self, Self::Rehearsed | Self::Verified)
    }
}

text_enum! {
    /// Who answered for a block in a rehearsal.
    #[derive(Hash, utoipa::ToSchema)]
    pub enum AnsweredBy {
        Pinned = "pinned",
        /// The outputs of an earlier execution.
        Recording = "recording",
        Model = "model",
        /// Data made from the block's schema.
        Sample = "sample",
        /// The rehearsal decided instead of a person.
        Decision = "decision",
    }
}

/// The result of a rehearsal: of its first run, and of further runs that were made to reach what it did not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RehearsalReport {
    /// The first run.
    pub execution_id: ExecutionId,
    pub state: AgentState,
    /// The steps that ran, in any run.
    pub nodes_fired: Vec<String>,
    /// The steps that no run reached.
    pub not_fired: Vec<String>,
    /// The linked outputs of steps that have several, and whether a value came out of each.
    pub branches: Vec<RehearsedBranch>,
    /// What the first run gave, by output name, in order.
    pub outputs: Map<String, Value>,
    /// The outputs that got no value in any run.
    pub unfilled: Vec<String>,
    /// The steps that failed in the first run.
    pub failed: Vec<StepFailure>,
    /// The steps that were answered for. Those of an agent that a step runs follow its name: `letter/send`.
    pub answered: Vec<AnsweredStep>,
    /// Inputs that were made up, because none were given.
    pub made_inputs: Map<String, Value>,
    /// All runs, the first one first. What happens with `fail_each` is in `failures`.
    #[serde(default)]
    pub runs: Vec<RehearsedRun>,
    /// With `fail_each`: what happens when each of the answered steps fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<RehearsedFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RehearsedBranch {
    pub step: String,
    pub pin: String,
    pub taken: bool,
    /// The first run that took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_in: Option<ExecutionId>,
}

/// One run of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RehearsedRun {
    pub execution_id: ExecutionId,
    /// What was different from the first run.
    pub varied: Vec<RehearsalVariation>,
    /// The outputs that no earlier run filled.
    pub filled: Vec<String>,
    /// The steps that failed, other than those that were let fail.
    pub failed: Vec<StepFailure>,
}

/// A difference between one run of a rehearsal and the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RehearsalVariation {
    pub kind: VariationKind,
    /// The input or the step.
    pub name: String,
    /// The output of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

text_enum! {
    #[derive(Hash, utoipa::ToSchema)]
    pub enum VariationKind {
        /// An input had another value.
        Input = "input",
        /// A step was answered for with another value, or on another output.
        Answer = "answer",
        /// What a step asked a person to approve was rejected.
        Rejection = "rejection",
        /// A step failed.
        Failure = "failure",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepFailure {
    pub step: String,
    pub node_id: NodeId,
    pub error: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AnsweredStep {
    pub step: String,
    pub by: AnsweredBy,
}

/// A rehearsal in which one step failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RehearsedFailure {
    pub step: String,
    pub execution_id: ExecutionId,
    /// The outputs that got no value because of it.
    pub unfilled: Vec<String>,
    /// Other steps that failed because of it.
    pub failed: Vec<StepFailure>,
}
