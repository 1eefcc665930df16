//! What tools say when something has to be settled before they can do what was asked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::GraphId;

/// An agent or a block cannot run yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SetupRequirements {
    pub setup_info: SetupInfo,
    /// Absent when it is about a single block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_id: Option<GraphId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_version: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SetupInfo {
    /// The graph, or the block.
    pub agent_id: String,
    pub agent_name: String,
    pub requirements: SetupNeeds,
    pub user_readiness: UserReadiness,
}

/// All that is needed, whether it is there or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SetupNeeds {
    pub credentials: Vec<NeededCredentials>,
    pub inputs: Vec<NeededInput>,
    /// How it can be started once nothing is missing.
    pub execution_modes: Vec<ExecutionMode>,
}

/// Credentials that a block sends along.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NeededCredentials {
    /// Under which they are missing in `missing_credentials`.
    pub id: String,
    pub title: String,
    /// Whose they are, where it is always the same service.
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

/// What of the requirements the user has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UserReadiness {
    pub has_all_credentials: bool,
    /// By their id.
    pub missing_credentials: BTreeMap<String, NeededCredentials>,
    pub ready_to_run: bool,
}

/// Another goal than the one that was given, for a person to take or to leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SuggestedGoal {
    pub suggested_goal: String,
    /// Why the other one will not do.
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
