//! `validate_agent_graph`: checks an agent without saving it.

use async_trait::async_trait;
use ports::call_services::AgentChecked;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{AgentValidation, ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::agent_files::AgentFiles;
use crate::tools::given_agent::{AgentArgument, AgentDocuments, check_guide_was_read};
use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(ValidateAgentGraph { files: AgentFiles::new(services) }))
}

struct ValidateAgentGraph {
    files: AgentFiles,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ValidateAgentArguments {
    /// The agent spec, as YAML text or as an object.
    spec: Option<AgentArgument>,
    /// The agent as graph JSON, instead of a spec.
    agent_json: Option<AgentArgument>,
    /// A workspace file with the agent.
    agent_json_ref: Option<String>,
    /// The graph id of a stored agent, instead of a document.
    agent_id: Option<String>,
}

#[async_trait]
impl TypedTool for ValidateAgentGraph {
    type Arguments = ValidateAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "validate_agent_graph",
            "Check an agent. Every error has a code, its place, what was expected and, where it is \
             unique, the edit that repairs it. Refuses until get_agent_building_guide was called.",
        )
        .summary("checks an agent")
        .requires_sign_in()
        .effect(ToolEffect::None)
        .labels(ToolLabels::new("Agent", ToolIcon::Search, "Checking", "Checked"))
    }

    async fn call(
        &self,
        arguments: ValidateAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        check_guide_was_read(&context, "validate_agent_graph")?;
        let ValidateAgentArguments { spec, agent_json, agent_json_ref, agent_id } = arguments;
        let given = AgentDocuments { spec, agent_json, agent_json_ref, agent_id };
        let agent = given.read(&context, &self.files).await?;
        let AgentChecked::Checked { state, errors, warnings } =
            context.services.building.check(agent).await?
        else {
            return Err(ToolError::tell("agent_not_found", "The agent was not found."));
        };
        let message = match errors.len() {
            0 => "The agent has no errors.".to_owned(),
            1 => "The agent has an error.".to_owned(),
            count => format!("The agent has {count} errors."),
        };
        let valid = errors.is_empty();
        let error_count = errors.len();
        let result = AgentValidation { valid, state, errors, error_count, warnings };
        Ok(ToolResponse::new(message, ResponseBody::AgentBuilderValidationResult(result)))
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample { arguments: json!({}), response: "error" }]
    }
}
