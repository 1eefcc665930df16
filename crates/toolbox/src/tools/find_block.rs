//! `find_block`: finds blocks by words, class name or id.

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::block::BlockSpec;
use protocol::response::{BlockInfo, ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::block_choice::{BlockCatalog, best_matches, runs_alone};
use crate::tools::{ToolDefinition, TypedTool};

/// Blocks that one search returns.
const SHOWN: usize = 10;

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(FindBlock { blocks: BlockCatalog::new(services) }))
}

struct FindBlock {
    blocks: BlockCatalog,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindBlockArguments {
    /// What the block should do, its name, or its id.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    /// For building an agent: include blocks that cannot run on their own, and all pins.
    #[serde(default)]
    for_agent_generation: bool,
}

impl FindBlock {
    /// The blocks that this call may use, best match first. The error says why an exact match is left out.
    fn search(
        &self,
        query: &str,
        for_agents: bool,
        context: &ToolContext,
    ) -> Result<Vec<&BlockSpec>, String> {
        let permitted = |spec: &&BlockSpec| context.permissions.allow_block(spec.id, spec.name);
        let usable = |spec: &&BlockSpec| for_agents || runs_alone(spec);
        if let Some(spec) = self.blocks.by_id(query).filter(permitted) {
            return match usable(&spec) {
                true => Ok(vec![spec]),
                false => Err(format!("{} only works as part of an agent.", spec.name)),
            };
        }
        let seen: Vec<&BlockSpec> = self.blocks.specs().filter(permitted).filter(usable).collect();
        Ok(best_matches(query, seen, SHOWN))
    }
}

#[async_trait]
impl TypedTool for FindBlock {
    type Arguments = FindBlockArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "find_block",
            "Search for blocks: small ready-made steps (text, lists, web, AI…) that run_block \
             runs and agents are built from.",
        )
        .summary("searches blocks")
        .requires_sign_in()
        .effect(ToolEffect::None)
        .labels(
            ToolLabels::new("Blocks", ToolIcon::Search, "Searching for", "Searched for")
                .quoted_object(&["query"]),
        )
    }

    async fn call(
        &self,
        arguments: FindBlockArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let FindBlockArguments { query, for_agent_generation } = arguments;
        let query = query.trim();
        if query.is_empty() {
            return Err(ToolError::tell("invalid_arguments", "The query is empty."));
        }
        let found = match self.search(query, for_agent_generation, &context) {
            Ok(found) if !found.is_empty() => found,
            Ok(_) => return Ok(nothing(format!("No blocks match {query:?}."))),
            Err(why) => return Ok(nothing(why)),
        };
        let blocks: Vec<BlockInfo> =
            found.into_iter().map(|spec| shown(spec, for_agent_generation)).collect();
        let count = blocks.len();
        let usage_hint =
            "run_block with block_id alone returns the inputs; with input_data it runs the block.";
        let body = ResponseBody::BlockList {
            blocks,
            count,
            query: query.to_owned(),
            usage_hint: usage_hint.to_owned(),
        };
        Ok(ToolResponse::new(format!("{count} blocks, best match first."), body))
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"query": "zyzzyva qwertz"}), response: "no_results" },
            ToolExample { arguments: json!({"query": " "}), response: "error" },
        ]
    }
}

/// Schemas are long and only needed to link blocks, so they are left out unless `with_pins` is set.
fn shown(spec: &BlockSpec, with_pins: bool) -> BlockInfo {
    BlockInfo {
        id: spec.id.into(),
        name: spec.name.into(),
        description: spec.description.into(),
        categories: spec.categories.to_vec(),
        required_inputs: spec.required().map(str::to_owned).collect(),
        static_output: spec.static_output,
        input_schema: with_pins.then(|| spec.inputs.clone()),
        output_schema: with_pins.then(|| spec.outputs.clone()),
    }
}

fn nothing(why: String) -> ToolResponse {
    let suggestions = vec![
        "Search with other or more general words.".to_owned(),
        "Look for an agent with find_library_agent or find_agent.".to_owned(),
    ];
    ToolResponse::new(why, ResponseBody::NoResults { suggestions })
}
