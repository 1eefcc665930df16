//! `fix_agent_graph`: repairs an agent without saving it, as far as that keeps its meaning.

use async_trait::async_trait;
use ports::call_services::AgentFixed;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::given_agent::{AgentArgument, check_guide_was_read, given_agent, invalid};
use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(FixAgentGraph))
}

struct FixAgentGraph;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FixAgentArguments {
    /// The agent spec, as YAML text or as an object.
    spec: Option<AgentArgument>,
    /// The agent as graph JSON, instead of a spec.
    agent_json: Option<AgentArgument>,
    /// The graph id of a stored agent, instead of a document.
    agent_id: Option<String>,
}

#[async_trait]
impl TypedTool for FixAgentGraph {
    type Arguments = FixAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "fix_agent_graph",
            "Repair an agent as far as its meaning stays, and list what is left. Nothing is saved. \
             Refuses until get_agent_building_guide was called.",
        )
        .summary("repairs an agent, as far as its meaning stays")
        .requires_sign_in()
        .effect(ToolEffect::None)
        .labels(ToolLabels::new("Agent", ToolIcon::Wrench, "Repairing", "Repaired"))
    }

    async fn call(
        &self,
        arguments: FixAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        check_guide_was_read(&context, "fix_agent_graph")?;
        let FixAgentArguments { spec, agent_json, agent_id } = arguments;
        let agent = given_agent(agent_json, spec, agent_id)?;
        match context.services.building.fix(agent).await? {
            AgentFixed::Fixed(fix) => {
                let message = match (fix.fix_count, fix.valid_after_fix) {
                    (0, true) => "There was nothing to repair.".to_owned(),
                    (count, true) => format!("Repaired: {count}. The agent has no errors."),
                    (count, false) => {
                        let left = fix.remaining_errors.len();
                        format!("Repaired: {count}. Errors left: {left}.")
                    }
                };
                Ok(ToolResponse::new(message, ResponseBody::AgentBuilderFixResult(fix)))
            }
            AgentFixed::Unreadable(problems) => Ok(invalid(&problems)),
            AgentFixed::NotFound => {
                Err(ToolError::tell("agent_not_found", "The agent was not found."))
            }
        }
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample { arguments: json!({}), response: "error" }]
    }
}
