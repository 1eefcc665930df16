//! Executions: one run of an agent, its states, and what is journaled about its nodes.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{ExecutionId, GraphId, NodeId, ReviewId, UserId, WorkerId};
use crate::permissions::Permissions;
use crate::review::ReviewDecision;

/// The states of a run and of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ExecutionStatus {
    Incomplete,
    Queued,
    Running,
    Completed,
    Terminated,
    Failed,
    Review,
}

impl ExecutionStatus {
    pub const ALL: [Self; 7] = [
        Self::Incomplete,
        Self::Queued,
        Self::Running,
        Self::Completed,
        Self::Terminated,
        Self::Failed,
        Self::Review,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Incomplete => "INCOMPLETE",
            Self::Queued => "QUEUED",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Terminated => "TERMINATED",
            Self::Failed => "FAILED",
            Self::Review => "REVIEW",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Terminated | Self::Failed)
    }

    /// Whether a run may go from this state to that one. Every change of a row is conditional on it.
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
    /// The run whose node has started this one.
    pub parent: Option<ExecutionId>,
    /// 0 for one that a person or a turn began, 1 for those that its nodes began, and so on.
    pub depth: u32,
    /// Raised by every claim; a write with an older one changes nothing.
    pub fence: u64,
    /// Claims that did not end in a result, a rest or an orderly hand-back, the present one included.
    pub attempt: u32,
    pub stop_requested: bool,
    /// How many events are journaled.
    pub events: u64,
    pub stats: ExecutionStats,
    pub error: Option<ExecutionError>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// What a run was asked to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRequest {
    /// By the names of the agent's inputs.
    #[serde(default)]
    pub inputs: Map<String, Value>,
    #[serde(default)]
    pub dry_run: bool,
    #[serde(default)]
    pub safe_mode: SafeMode,
    #[serde(default, skip_serializing_if = "Permissions::is_unlimited")]
    pub permissions: Permissions,
    /// How many copilot turns, each started by a block of a run that the one before began, stand above this run.
    #[serde(default)]
    pub copilot_depth: u32,
}

/// Where a person wants to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SafeMode {
    /// Blocks that ask.
    #[serde(default = "yes", rename = "human_in_the_loop_safe_mode")]
    pub human_in_the_loop: bool,
    /// Blocks that act on the world.
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

/// Why a run as a whole has failed: a stable code for programs and a sentence for people.
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
    /// Seconds that somebody worked on it.
    pub duration: f64,
    pub node_count: u64,
    pub node_error_count: u64,
    pub is_dry_run: bool,
}

/// The right to act for a run. It is worth nothing once the run has been claimed again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExecutionClaim {
    pub execution_id: ExecutionId,
    pub fence: u64,
    pub worker: WorkerId,
}

/// A change of one node run. What is absent stays as it was; a run that is over within one event has it all in one.
/// Inputs are not journaled: they follow from the outputs before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeEvent {
    /// The ordinal of the node run within its execution, from 0.
    pub run: u64,
    pub node: NodeId,
    /// What it has emitted since the event before. Shared, because it flows on to other nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<(String, Arc<Value>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ExecutionStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What a person has decided about it.
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

/// A run as people see it: its row, what it gave, and what its nodes did.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionView {
    pub execution: Execution,
    /// By the names of the agent's outputs, in order.
    pub outputs: Map<String, Value>,
    /// Whether some outputs were left out because there are too many of them.
    pub outputs_cut: bool,
    /// Those that were asked for, in the order in which they began.
    pub nodes: Vec<NodeExecution>,
    /// How many node runs there are in all.
    pub node_total: u64,
    /// The first of those that failed.
    pub failed: Vec<NodeFailure>,
}

/// Which node runs a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRange {
    None,
    /// So many, from this ordinal on.
    From {
        first: u64,
        limit: usize,
    },
}

/// One run of one node.
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

/// The name of a node run outside its execution, and of the review it waits for.
pub fn node_run_id(execution: &ExecutionId, run: u64) -> ReviewId {
    ReviewId(format!("{execution}:{run}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_moves_only_along_the_allowed_ways() {
        use ExecutionStatus::*;
        let allowed: Vec<_> = ExecutionStatus::ALL
            .into_iter()
            .flat_map(|from| ExecutionStatus::ALL.map(|to| (from, to)))
            .filter(|(from, to)| from.may_become(*to))
            .collect();
        assert_eq!(allowed.len(), 3 + 4 + 1 + 4 + 4 + 1);
        assert!(!Completed.may_become(Running) && !Failed.may_become(Queued));
        assert!(Terminated.may_become(Queued), "a stopped run can be taken up again");
        assert!(!Queued.may_become(Review), "only what runs can ask");
    }
}
