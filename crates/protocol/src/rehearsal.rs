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
    /// Makes the same data each time.
    #[serde(default)]
    pub seed: u64,
    /// Whether the model may play blocks that have no pinned outputs. Otherwise their outputs are made from their schemas.
    #[serde(default)]
    pub use_model: bool,
    /// The node that fails instead of being answered for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<NodeId>,
}

text_enum! {
    /// How far an agent has been checked. Only `rehearsed` and `verified` agents are ready to use.
    #[derive(Hash, utoipa::ToSchema)]
    pub enum AgentState {
        /// It has errors.
        Draft = "draft",
        /// It has no errors, but was not rehearsed, or its rehearsal failed.
        Valid = "valid",
        /// A rehearsal filled every output; some blocks were answered for.
        Rehearsed = "rehearsed",
        /// A rehearsal filled every output, and every block really ran.
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
        Model = "model",
        /// Data made from the block's schema.
        Sample = "sample",
    }
}

/// The result of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RehearsalReport {
    pub execution_id: ExecutionId,
    pub state: AgentState,
    /// The steps that ran.
    pub nodes_fired: Vec<String>,
    /// The steps that did not.
    pub not_fired: Vec<String>,
    /// The linked outputs of steps that have several, and whether a value came out of each.
    pub branches: Vec<RehearsedBranch>,
    /// By output name, in order.
    pub outputs: Map<String, Value>,
    /// The outputs that got no value.
    pub unfilled: Vec<String>,
    /// The steps that failed.
    pub failed: Vec<StepFailure>,
    /// The steps that were answered for.
    pub answered: Vec<AnsweredStep>,
    /// Inputs that were made up, because none were given.
    pub made_inputs: Map<String, Value>,
    /// With `fail_each`: what happens when each of the answered steps fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<RehearsedFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RehearsedBranch {
    pub step: String,
    pub pin: String,
    pub taken: bool,
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
