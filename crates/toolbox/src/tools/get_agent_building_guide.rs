//! `get_agent_building_guide`: how agents are built, with the blocks of this server.

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::block_choice::BlockCatalog;
use crate::tools::{ToolDefinition, TypedTool, building_guide};

pub(crate) const NAME: &str = "get_agent_building_guide";

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(GetAgentBuildingGuide { blocks: BlockCatalog::new(services) })
    })
}

struct GetAgentBuildingGuide {
    blocks: BlockCatalog,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[async_trait]
impl TypedTool for GetAgentBuildingGuide {
    type Arguments = NoArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            NAME,
            "Read how agents are built: the agent spec, its rules, and every block with its pins. \
             Required before create_agent, edit_agent, validate_agent_graph and fix_agent_graph.",
        )
        .summary("reads how agents are built")
        .effect(ToolEffect::None)
        .labels(ToolLabels::new(
            "Guide",
            ToolIcon::FileText,
            "Reading how agents are built",
            "Read how agents are built",
        ))
    }

    async fn call(&self, _: NoArguments, _: ToolContext) -> Result<ToolResponse, ToolError> {
        let content = building_guide::for_tools(&self.blocks);
        Ok(ToolResponse::new(
            "Follow this guide. Use find_block with for_agent_generation for the schemas of a block.",
            ResponseBody::AgentBuilderGuide { content },
        ))
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample { arguments: json!({}), response: "agent_builder_guide" }]
    }
}
