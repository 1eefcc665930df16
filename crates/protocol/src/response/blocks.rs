//! Tool responses about blocks and their executions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::block::BlockCategory;
use crate::ids::{BlockId, ExecutionId, ReviewId};

/// A block found by a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BlockInfo {
    pub id: BlockId,
    pub name: String,
    pub description: String,
    pub categories: Vec<BlockCategory>,
    /// Names of the required inputs.
    pub required_inputs: Vec<String>,
    pub static_output: bool,
    /// JSON schemas of its inputs and outputs, if details were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// What is needed to run a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BlockDetails {
    pub id: BlockId,
    pub name: String,
    pub description: String,
    /// JSON schemas.
    pub inputs: Value,
    pub outputs: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BlockOutput {
    pub block_id: BlockId,
    pub block_name: String,
    /// Every pin with its values, in order.
    pub outputs: Map<String, Value>,
    pub success: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_dry_run: bool,
}

/// Approval is required before the block runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReviewRequired {
    pub block_id: BlockId,
    pub block_name: String,
    pub review_id: ReviewId,
    pub graph_exec_id: ExecutionId,
    pub input_data: Value,
}
