//! `fix_agent_graph`: repairs an agent without saving it, as far as that keeps its meaning.

use async_trait::async_trait;
use ports::agent_responses::invalid_agent;
use ports::call_services::AgentFixed;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::agent_files::{AgentFiles, plain_name};
use crate::tools::given_agent::{AgentArgument, AgentDocuments, check_guide_was_read};
use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(FixAgentGraph { files: AgentFiles::new(services) }))
}

struct FixAgentGraph {
    files: AgentFiles,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FixAgentArguments {
    /// The agent spec, as YAML text or as an object.
    spec: Option<AgentArgument>,
    /// The agent as graph JSON, instead of a spec.
    agent_json: Option<AgentArgument>,
    /// A workspace file with the agent.
    agent_json_ref: Option<String>,
    /// The graph id of a stored agent, instead of a document.
    agent_id: Option<String>,
    /// Write the repaired agent to this workspace file instead of returning it.
    #[schemars(length(max = 255))]
    write_to: Option<String>,
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
        // It replaces the file that it writes.
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new("Agent", ToolIcon::Wrench, "Repairing", "Repaired"))
    }

    async fn call(
        &self,
        arguments: FixAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        check_guide_was_read(&context, "fix_agent_graph")?;
        let FixAgentArguments { spec, agent_json, agent_json_ref, agent_id, write_to } = arguments;
        let write_to = write_to.as_deref().map(plain_name).transpose()?;
        let given = AgentDocuments { spec, agent_json, agent_json_ref, agent_id };
        let agent = given.read(&context, &self.files).await?;
        match context.services.building.fix(agent).await? {
            AgentFixed::Fixed(mut fix) => {
                if let Some(name) = write_to
                    && !context.dry_run
                    && let Some(agent) = fix.fixed_agent_json.take()
                {
                    fix.fixed_agent_ref = Some(self.files.write(&context, name, &agent).await?);
                }
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
            AgentFixed::Unreadable(problems) => Ok(invalid_agent(&problems)),
            AgentFixed::NotFound => {
                Err(ToolError::tell("agent_not_found", "The agent was not found."))
            }
        }
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample { arguments: json!({}), response: "error" }]
    }
}
