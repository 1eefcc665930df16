//! The response bodies of executions.

use jiff::Timestamp;
use protocol::execution::{
    Execution, ExecutionError, ExecutionStats, ExecutionStatus, ExecutionView, NodeExecution,
    NodeFailure,
};
use protocol::{ExecutionId, GraphId, UserId};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::http::extract::PageInfo;

/// An execution without its outputs.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ExecutionMeta {
    id: ExecutionId,
    user_id: UserId,
    graph_id: GraphId,
    graph_version: u32,
    status: ExecutionStatus,
    inputs: Map<String, Value>,
    /// The execution whose node started this one.
    parent_execution_id: Option<ExecutionId>,
    /// Whether a stop was requested.
    stop_requested: bool,
    /// The number of events in its stream so far.
    event_count: u64,
    stats: ExecutionStats,
    /// Why the execution as a whole failed.
    error: Option<ExecutionError>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
}

/// An execution with its outputs and node executions.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ExecutionDetails {
    #[serde(flatten)]
    meta: ExecutionMeta,
    /// By output name: all values, in order.
    outputs: Map<String, Value>,
    /// Whether there are more outputs than are included.
    outputs_cut: bool,
    /// In the order in which they started.
    node_executions: Vec<NodeExecution>,
    /// The total number of node executions.
    node_total: u64,
    /// The first failed node executions.
    failed_nodes: Vec<NodeFailure>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ExecutionList {
    pub(crate) executions: Vec<ExecutionMeta>,
    pub(crate) pagination: PageInfo,
}

impl From<Execution> for ExecutionMeta {
    fn from(execution: Execution) -> Self {
        Self {
            id: execution.id,
            user_id: execution.user_id,
            graph_id: execution.graph_id,
            graph_version: execution.graph_version,
            status: execution.status,
            inputs: execution.request.inputs,
            parent_execution_id: execution.parent,
            stop_requested: execution.stop_requested,
            event_count: execution.events,
            stats: execution.stats,
            error: execution.error,
            created_at: execution.created_at,
            started_at: execution.started_at,
            ended_at: execution.ended_at,
        }
    }
}

impl From<ExecutionView> for ExecutionDetails {
    fn from(view: ExecutionView) -> Self {
        Self {
            meta: view.execution.into(),
            outputs: view.outputs,
            outputs_cut: view.outputs_cut,
            node_executions: view.nodes,
            node_total: view.node_total,
            failed_nodes: view.failed,
        }
    }
}
