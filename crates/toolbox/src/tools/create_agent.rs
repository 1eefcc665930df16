//! `create_agent`: makes an agent from a spec or from graph JSON.

use async_trait::async_trait;
use ports::call_services::BuildAgent;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::ToolResponse;
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::given_agent::{AgentArgument, built_response, check_guide_was_read, given_agent};
use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(CreateAgent))
}

struct CreateAgent;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateAgentArguments {
    /// The agent spec, as YAML text or as an object.
    spec: Option<AgentArgument>,
    /// The agent as graph JSON, instead of a spec.
    agent_json: Option<AgentArgument>,
    /// Save it in the user's library. Otherwise it is only shown.
    #[serde(default = "crate::tools::arguments::yes")]
    save: bool,
}

#[async_trait]
impl TypedTool for CreateAgent {
    type Arguments = CreateAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "create_agent",
            "Create an agent from a spec. It is fixed, checked and rehearsed; the response says how \
             far it is proven. Refuses until get_agent_building_guide was called.",
        )
        .summary("creates an agent from a spec, or shows a preview of it")
        .requires_sign_in()
        // Its id follows from the call.
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new("Agent", ToolIcon::Bot, "Creating", "Created"))
    }

    async fn call(
        &self,
        arguments: CreateAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        check_guide_was_read(&context, "create_agent")?;
        let CreateAgentArguments { spec, agent_json, save } = arguments;
        let agent = given_agent(agent_json, spec, None)?;
        let save = save && !context.dry_run;
        let build = BuildAgent { agent, version_of: None, save };
        Ok(built_response(context.services.building.build(build).await?))
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample { arguments: json!({"spec": {"name": "x"}}), response: "error" }]
    }
}
