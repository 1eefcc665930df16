//! `run_block`: runs a single block. Without inputs it returns which ones the block has.

use async_trait::async_trait;
use ports::Tool;
use ports::call_services::BlockCall;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::ToolResponse;
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::block_choice::{self, BlockCatalog};
use super::{arguments, block_call, caller, setup};

const NAME: &str = "run_block";

pub(super) struct RunBlock {
    spec: ToolSpec,
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

impl RunBlock {
    pub(super) fn new(blocks: BlockCatalog) -> Self {
        Self {
            spec: ToolSpec {
                name: NAME,
                description: "Run a single block. Call it with the id alone first to see its inputs and outputs, \
                    then with input_data.",
                parameters: arguments::schema::<RunBlockArguments>(),
                requires_auth: true,
                budget: TimeBudget::Own,
                // The engine records start and end under the call's idempotency key.
                effect: ToolEffect::Idempotent,
                long_running: false,
            },
            blocks,
        }
    }
}

#[async_trait]
impl Tool for RunBlock {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let RunBlockArguments { block_id, input_data, validate_only } =
            arguments::parse(arguments)?;
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

    fn examples(&self) -> Vec<ToolExample> {
        vec![ToolExample {
            arguments: json!({"block_id": "00000000-0000-0000-0000-000000000000"}),
            response: "error",
        }]
    }
}
