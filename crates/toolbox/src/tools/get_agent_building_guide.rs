//! `get_agent_building_guide`: how agents are built, with the blocks of this server.

use std::fmt::Write;

use async_trait::async_trait;
use graphs::catalog::block_title;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::block::{BlockKind, BlockSpec};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::block_choice::BlockCatalog;
use crate::tools::{ToolDefinition, TypedTool};

pub(crate) const NAME: &str = "get_agent_building_guide";

const GUIDE: &str = include_str!("agent_building_guide.md");

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
        let content = format!("{GUIDE}\n{}", block_list(&self.blocks));
        Ok(ToolResponse::new(
            "Follow this guide. Use find_block with for_agent_generation for the schemas of a block.",
            ResponseBody::AgentBuilderGuide { content },
        ))
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample { arguments: json!({}), response: "agent_builder_guide" }]
    }
}

/// Every block with its pins, a line each. Inputs and outputs of an agent are sections of the spec, not steps.
fn block_list(blocks: &BlockCatalog) -> String {
    let mut text = String::from("## Blocks\n\nRequired inputs have a `*`.\n\n");
    let is_step = |spec: &&BlockSpec| {
        !matches!(spec.kind, BlockKind::Input | BlockKind::Output | BlockKind::Note)
    };
    for spec in blocks.specs().filter(is_step) {
        let required: Vec<&str> = spec.required().collect();
        let star = |pin: &String| match required.contains(&pin.as_str()) {
            true => format!("{pin}*"),
            false => pin.clone(),
        };
        let inputs: Vec<String> = pins(&spec.inputs).map(star).collect();
        let outputs: Vec<&String> = pins(&spec.outputs).filter(|pin| *pin != "error").collect();
        let outputs = outputs.iter().map(|pin| pin.as_str()).collect::<Vec<_>>().join(", ");
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "- **{}**: {} ({}) → {outputs}",
            block_title(spec.name),
            spec.description,
            inputs.join(", "),
        );
    }
    text
}

fn pins(schema: &Value) -> impl Iterator<Item = &String> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|pins| pins.keys())
}
