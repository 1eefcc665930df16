//! What a person has to decide before a run goes on.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{BlockId, ExecutionId, GraphId, NodeId, ReviewId, SessionId, UserId};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Review {
    /// The node run, or the call, that waits.
    #[serde(rename = "node_exec_id")]
    pub id: ReviewId,
    pub user_id: UserId,
    /// The execution, or `copilot-session-<session>` for a block that runs by itself.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ReviewStatus {
    Waiting,
    Approved,
    Rejected,
}

/// What was decided. `data` is the payload as it was approved or rejected, edited or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewDecision {
    pub approved: bool,
    pub data: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Review {
    /// `None` while nobody has decided.
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

/// The place of reviews of blocks that a session runs by themselves.
pub fn session_place(session: &SessionId) -> ExecutionId {
    ExecutionId(format!("copilot-session-{session}"))
}

const BLOCK_PLACE: &str = "copilot-node-";

/// The node of a review of a block that runs by itself.
pub fn block_place(block: &BlockId) -> NodeId {
    NodeId(format!("{BLOCK_PLACE}{block}"))
}

/// The block that such a review is about.
pub fn placed_block(node: &NodeId) -> Option<BlockId> {
    node.as_str().strip_prefix(BLOCK_PLACE).map(BlockId::from)
}
