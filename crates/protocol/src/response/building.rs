//! The responses of the tools that build agents.

use serde::{Deserialize, Serialize};

use crate::graph::{Graph, GraphProblem};
use crate::ids::{GraphId, LibraryAgentId};
use crate::rehearsal::AgentState;
use crate::text_enum::text_enum;

/// An agent that is shown and not saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentPreview {
    pub agent_json: Graph,
    /// The agent spec, as YAML.
    pub spec: String,
    #[serde(flatten)]
    pub summary: BuiltAgent,
}

/// An agent that was saved in the user's library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentSaved {
    pub agent_id: GraphId,
    pub graph_version: u32,
    pub library_agent_id: LibraryAgentId,
    /// Links for the user: its page in the library, and its graph.
    pub library_agent_link: String,
    pub agent_page_link: String,
    #[serde(flatten)]
    pub summary: BuiltAgent,
}

/// What both have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BuiltAgent {
    pub agent_name: String,
    pub description: String,
    pub node_count: usize,
    pub link_count: usize,
    /// Only `rehearsed` and `verified` agents are ready to use.
    pub state: AgentState,
    /// What is probably a mistake.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<GraphProblem>,
    /// What changed, a line each: `+ step page: Send Web Request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentValidation {
    pub valid: bool,
    pub state: AgentState,
    pub errors: Vec<GraphProblem>,
    pub error_count: usize,
    pub warnings: Vec<GraphProblem>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentFix {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_agent_json: Option<Graph>,
    /// The file with the fixed agent, if it was written to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_agent_ref: Option<String>,
    /// What the fixes changed, a line each; at most 4,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_diff: Option<String>,
    pub fixes_applied: Vec<GraphProblem>,
    pub fix_count: usize,
    pub valid_after_fix: bool,
    pub remaining_errors: Vec<GraphProblem>,
}

/// How far an agent is that is being made from words. Only shown while the work continues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentProgress {
    pub stage: BuildingStage,
    /// More about the stage, for example the planned steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Which attempt at a repair this is, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
}

text_enum! {
    /// A stage of making an agent from words.
    #[derive(utoipa::ToSchema)]
    pub enum BuildingStage {
        /// Is the goal clear and achievable?
        Understanding = "understanding",
        /// The steps are known; agents of the user that could be used are searched.
        Planning = "planning",
        /// The generator writes the agent.
        Writing = "writing",
        /// It is fixed and checked.
        Checking = "checking",
        /// The generator writes it again, without the errors that were found.
        Repairing = "repairing",
        Rehearsing = "rehearsing",
        Saving = "saving",
    }
}

/// One step of a plan for an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PlannedStep {
    pub step_id: String,
    pub description: String,
    /// `add_block`, `connect_blocks`, `configure`, `add_input` or `add_output`.
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_name: Option<String>,
    /// Always `pending`: a plan is only shown.
    pub status: String,
}
