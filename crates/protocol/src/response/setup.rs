//! Tool responses for requests that need something else first.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::GraphId;

/// An agent or a block cannot run yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SetupRequirements {
    pub setup_info: SetupInfo,
    /// Absent for a single block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_id: Option<GraphId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_version: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SetupInfo {
    /// The id of the graph or the block.
    pub agent_id: String,
    pub agent_name: String,
    pub requirements: SetupNeeds,
    pub user_readiness: UserReadiness,
}

/// All requirements, met or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SetupNeeds {
    pub credentials: Vec<NeededCredentials>,
    pub inputs: Vec<NeededInput>,
    /// How it can be started once nothing is missing.
    pub execution_modes: Vec<ExecutionMode>,
}

/// Credentials that a block uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NeededCredentials {
    /// The key in `missing_credentials`.
    pub id: String,
    pub title: String,
    /// The service, if it is always the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Names of the blocks that need them.
    pub needed_by: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NeededInput {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub required: bool,
    /// JSON schema of its value.
    pub schema: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionMode {
    Manual,
    Scheduled,
    Webhook,
}

/// Which requirements the user meets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UserReadiness {
    pub has_all_credentials: bool,
    /// By id.
    pub missing_credentials: BTreeMap<String, NeededCredentials>,
    pub ready_to_run: bool,
}

/// An alternative goal for the user to accept or decline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SuggestedGoal {
    pub suggested_goal: String,
    /// Why the original goal does not work.
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_goal: Option<String>,
    pub goal_type: GoalType,
}

/// What is wrong with a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GoalType {
    Vague,
    Unachievable,
}
