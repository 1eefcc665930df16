//! `edit_agent`: makes a new version of one of the user's agents.

use async_trait::async_trait;
use ports::call_services::BuildAgent;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::GraphId;
use protocol::graph_edit::GraphEdit;
use protocol::response::ToolResponse;
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::given_agent::{
    AgentArgument, built_response, changed_agent, check_guide_was_read,
};
use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(EditAgent))
}

struct EditAgent;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditAgentArguments {
    /// The agent's graph id.
    #[schemars(length(min = 1, max = 200))]
    agent_id: String,
    /// The version that the edits were made for.
    base_version: Option<u32>,
    /// Edits, as in the guide. All are applied, or none.
    edits: Option<Vec<Value>>,
    /// The whole changed agent as a spec, instead of edits.
    spec: Option<AgentArgument>,
    /// The whole changed agent as graph JSON, instead of edits.
    agent_json: Option<AgentArgument>,
    /// Save it as a new version. Otherwise it is only shown, with what would change.
    #[serde(default = "crate::tools::arguments::yes")]
    save: bool,
}

#[async_trait]
impl TypedTool for EditAgent {
    type Arguments = EditAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "edit_agent",
            "Change one of the user's agents: by edits of a version, or with the whole changed spec. \
             The response has the difference. Refuses until get_agent_building_guide was called.",
        )
        .summary("changes one of your agents, or shows what would change")
        .requires_sign_in()
        .effect(ToolEffect::Once)
        .labels(ToolLabels::new("Agent", ToolIcon::Bot, "Changing", "Changed"))
    }

    async fn call(
        &self,
        arguments: EditAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        check_guide_was_read(&context, "edit_agent")?;
        let id = GraphId(arguments.agent_id);
        let edits = edits(arguments.base_version, arguments.edits)?;
        let agent = changed_agent(&id, edits, arguments.agent_json, arguments.spec)?;
        let save = arguments.save && !context.dry_run;
        let build = BuildAgent { agent, version_of: Some(id), save };
        Ok(built_response(context.services.building.build(build).await?))
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample {
            arguments: json!({"agent_id": "none", "spec": {"name": "x"}}),
            response: "error",
        }]
    }
}

fn edits(
    base_version: Option<u32>,
    edits: Option<Vec<Value>>,
) -> Result<Option<(u32, Vec<GraphEdit>)>, ToolError> {
    let Some(edits) = edits else { return Ok(None) };
    let Some(base_version) = base_version else {
        let message = "Edits need base_version: the version that they were made for.";
        return Err(ToolError::tell("invalid_arguments", message));
    };
    let read = |(index, edit): (usize, Value)| {
        serde_json::from_value(edit).map_err(|error| {
            ToolError::tell("invalid_arguments", format!("edits[{index}]: {error}."))
        })
    };
    let edits: Result<Vec<GraphEdit>, ToolError> =
        edits.into_iter().enumerate().map(read).collect();
    Ok(Some((base_version, edits?)))
}
