//! `run_block`: runs a single block. Without inputs it returns which ones the block has.

use async_trait::async_trait;
use ports::call_services::BlockCall;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::ToolResponse;
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tools::block_choice::{self, BlockCatalog};
use crate::tools::{ToolDefinition, TypedTool, block_call, caller, setup};

const NAME: &str = "run_block";

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(RunBlock { blocks: BlockCatalog::new(services) }))
}

struct RunBlock {
    blocks: BlockCatalog,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunBlockArguments {
    /// The block's id, from find_block.
    #[schemars(length(min = 1, max = 200))]
    block_id: String,
    /// Values by input name; leave it out to see the inputs.
    input_data: Option<Map<String, Value>>,
    /// Only check the inputs.
    #[serde(default)]
    validate_only: bool,
}

#[async_trait]
impl TypedTool for RunBlock {
    type Arguments = RunBlockArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            NAME,
            "Run a single block. Call it with the id alone first to see its inputs and outputs, \
             then with input_data.",
        )
        .summary("shows the inputs of a block, and runs it on its own")
        .requires_sign_in()
        .budget(TimeBudget::Own)
        // The engine records start and end under the call's idempotency key.
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new("Action", ToolIcon::Blocks, "Running", "Ran").object(&["block_id"]))
    }

    async fn call(
        &self,
        arguments: RunBlockArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let RunBlockArguments { block_id, input_data, validate_only } = arguments;
        caller::signed_in_user(&context)?;
        let spec = self.blocks.runnable(block_id.trim(), &context)?;
        if !context.dry_run
            && let Some(response) = setup::of_block(spec)
        {
            return Ok(response);
        }
        let input = input_data.unwrap_or_default();
        if let Some(response) = block_choice::input_problems(spec, &input) {
            return Ok(response);
        }
        if validate_only {
            let message = format!("The inputs are valid for {}. Nothing was run.", spec.name);
            return Ok(block_choice::details(spec, message));
        }
        let (block_id, dry_run) = (spec.id.into(), context.dry_run);
        let call = BlockCall { block_id, input, dry_run, review: None, decision: None };
        Ok(block_call::run(NAME, spec, call, &context).await?.response)
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample {
            arguments: json!({"block_id": "00000000-0000-0000-0000-000000000000"}),
            response: "error",
        }]
    }
}
