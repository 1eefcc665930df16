//! Reviews: decisions by people that an execution or a call waits for.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{BlockId, ExecutionId, GraphId, NodeId, ReviewId, SessionId, UserId};
use crate::text_enum::text_enum;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Review {
    /// The node execution or the call that waits.
    #[serde(rename = "node_exec_id")]
    pub id: ReviewId,
    pub user_id: UserId,
    /// The execution, or `copilot-session-<session>` for a block that runs on its own.
    #[serde(rename = "graph_exec_id")]
    pub execution_id: ExecutionId,
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub node_id: NodeId,
    pub payload: Value,
    pub instructions: String,
    pub editable: bool,
    pub status: ReviewStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_message: Option<String>,
    pub was_edited: bool,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reviewed_at: Option<Timestamp>,
}

text_enum! {
    #[derive(utoipa::ToSchema)]
    pub enum ReviewStatus {
        Waiting = "WAITING",
        Approved = "APPROVED",
        Rejected = "REJECTED",
    }
}

/// A decision. `data` is the approved or rejected payload, edited or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewDecision {
    pub approved: bool,
    pub data: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Review {
    /// `None` while it is pending.
    pub fn decision(&self) -> Option<ReviewDecision> {
        let approved = match self.status {
            ReviewStatus::Waiting => return None,
            ReviewStatus::Approved => true,
            ReviewStatus::Rejected => false,
        };
        Some(ReviewDecision {
            approved,
            data: self.payload.clone(),
            message: self.review_message.clone(),
        })
    }
}

/// The execution id in reviews of blocks that a session runs on their own.
pub fn session_execution_id(session: &SessionId) -> ExecutionId {
    ExecutionId(format!("copilot-session-{session}"))
}

const BLOCK_NODE_PREFIX: &str = "copilot-node-";

/// The node id in reviews of blocks that run on their own.
pub fn block_node_id(block: &BlockId) -> NodeId {
    NodeId(format!("{BLOCK_NODE_PREFIX}{block}"))
}

/// The block of such a review.
pub fn reviewed_block(node: &NodeId) -> Option<BlockId> {
    node.as_str().strip_prefix(BLOCK_NODE_PREFIX).map(BlockId::from)
}
