//! Executions of agents, their states, and the journal of their nodes.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{ExecutionId, GraphId, NodeId, ReviewId, UserId, WorkerId};
use crate::permissions::Permissions;
use crate::rehearsal::Rehearsal;
use crate::review::ReviewDecision;
use crate::text_enum::text_enum;

text_enum! {
    /// The states of an execution and of its node executions.
    #[derive(Hash, utoipa::ToSchema)]
    pub enum ExecutionStatus {
        Incomplete = "INCOMPLETE",
        Queued = "QUEUED",
        Running = "RUNNING",
        Completed = "COMPLETED",
        Terminated = "TERMINATED",
        Failed = "FAILED",
        Review = "REVIEW",
    }
}

impl ExecutionStatus {
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Terminated | Self::Failed)
    }

    /// Whether an execution may change from this state to that one. Every update of a row is conditional on it.
    pub fn may_become(self, next: Self) -> bool {
        use ExecutionStatus::*;
        match next {
            Incomplete => false,
            Queued => matches!(self, Incomplete | Terminated | Review),
            Running => matches!(self, Incomplete | Queued | Terminated | Review),
            Completed | Review => self == Running,
            Failed | Terminated => matches!(self, Incomplete | Queued | Running | Review),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    pub id: ExecutionId,
    pub user_id: UserId,
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub status: ExecutionStatus,
    pub request: ExecutionRequest,
    /// The execution whose node started this one.
    pub parent: Option<ExecutionId>,
    /// 0 for one started by a person or a turn, 1 for those started by its nodes, and so on.
    pub depth: u32,
    /// Incremented by every claim; a write with an older fence changes nothing.
    pub fence: u64,
    /// Claims that did not end in a result, a wait for reviews or an orderly hand-back, including the current one.
    pub attempt: u32,
    pub stop_requested: bool,
    /// The number of journaled events.
    pub events: u64,
    pub stats: ExecutionStats,
    pub error: Option<ExecutionError>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// The parameters of an execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRequest {
    /// By input name.
    #[serde(default)]
    pub inputs: Map<String, Value>,
    #[serde(default)]
    pub dry_run: bool,
    #[serde(default)]
    pub safe_mode: SafeMode,
    #[serde(default, skip_serializing_if = "Permissions::is_unlimited")]
    pub permissions: Permissions,
    /// The number of copilot turns above this execution that were started by a block of an execution.
    #[serde(default)]
    pub copilot_depth: u32,
    /// A dry run is a rehearsal; this says how it answers for blocks. `None`: with the model, or with made-up data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Box<Rehearsal>>,
}

impl ExecutionRequest {
    /// How blocks that would act are answered for; `None` if they really run.
    pub fn rehearsal(&self) -> Option<Rehearsal> {
        let default = || Rehearsal { use_model: true, ..Rehearsal::default() };
        self.dry_run.then(|| self.rehearsal.as_deref().cloned().unwrap_or_else(default))
    }
}

/// Where approval is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SafeMode {
    /// Blocks that ask for a review.
    #[serde(default = "yes", rename = "human_in_the_loop_safe_mode")]
    pub human_in_the_loop: bool,
    /// Blocks with external side effects.
    #[serde(default, rename = "sensitive_action_safe_mode")]
    pub sensitive_action: bool,
}

fn yes() -> bool {
    true
}

impl Default for SafeMode {
    fn default() -> Self {
        Self { human_in_the_loop: true, sensitive_action: false }
    }
}

/// Why an execution as a whole failed: a stable code for programs and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExecutionError {
    pub code: String,
    pub message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct ExecutionStats {
    /// Credits.
    pub cost: u64,
    /// Seconds that workers spent on it.
    pub duration: f64,
    pub node_count: u64,
    pub node_error_count: u64,
    pub is_dry_run: bool,
}

/// The right to act for an execution. It becomes invalid when the execution is claimed again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExecutionClaim {
    pub execution_id: ExecutionId,
    pub fence: u64,
    pub worker: WorkerId,
}

/// A change of one node execution. Absent fields are unchanged; one that starts and ends within one event has everything
/// in it. Inputs are not journaled: they follow from earlier outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeEvent {
    /// The ordinal of the node execution within its execution, from 0.
    pub run: u64,
    pub node: NodeId,
    /// Outputs since the previous event. Shared, because they flow on to other nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<(String, Arc<Value>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ExecutionStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The decision of a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ReviewDecision>,
    /// Credits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost: u64,
    /// Milliseconds since 1970.
    pub at: i64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An execution as users see it: its row, its outputs and its node executions.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionView {
    pub execution: Execution,
    /// By output name, in order.
    pub outputs: Map<String, Value>,
    /// Whether outputs were omitted because there are too many.
    pub outputs_cut: bool,
    /// The requested node executions, in the order in which they started.
    pub nodes: Vec<NodeExecution>,
    /// The total number of node executions.
    pub node_total: u64,
    /// The first failed ones.
    pub failed: Vec<NodeFailure>,
}

/// Which node executions a view includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRange {
    None,
    /// This many, starting at this ordinal.
    From {
        first: u64,
        limit: usize,
    },
}

/// One execution of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NodeExecution {
    pub node_exec_id: ReviewId,
    pub node_id: NodeId,
    pub block_id: crate::BlockId,
    pub block_name: String,
    pub status: ExecutionStatus,
    pub input_data: Map<String, Value>,
    /// Every pin with its values, in order.
    pub output_data: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Credits.
    pub cost: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub start_time: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub end_time: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NodeFailure {
    pub node_id: NodeId,
    pub block_name: String,
    /// At most 500 characters.
    pub error: String,
}

/// The id of a node execution outside its execution, and of its review.
pub fn node_execution_id(execution: &ExecutionId, run: u64) -> ReviewId {
    ReviewId(format!("{execution}:{run}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_only_makes_allowed_transitions() {
        use ExecutionStatus::*;
        let allowed: Vec<_> = ExecutionStatus::ALL
            .into_iter()
            .flat_map(|from| ExecutionStatus::ALL.map(|to| (from, to)))
            .filter(|(from, to)| from.may_become(*to))
            .collect();
        assert_eq!(allowed.len(), 3 + 4 + 1 + 4 + 4 + 1);
        assert!(!Completed.may_become(Running) && !Failed.may_become(Queued));
        assert!(Terminated.may_become(Queued), "a stopped execution can be resumed");
        assert!(!Queued.may_become(Review), "only a running execution can request a review");
    }
}
