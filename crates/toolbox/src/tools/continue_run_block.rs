//! `continue_run_block`: runs a block after its review was approved, with the approved inputs.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Reviews;
use ports::call_services::BlockCall;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::ToolResponse;
use protocol::review::{Review, ReviewStatus, reviewed_block, session_execution_id};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use protocol::{ReviewId, UserId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::block_choice::{self, BlockCatalog};
use crate::tools::{ToolDefinition, TypedTool, block_call, caller};

const NAME: &str = "continue_run_block";

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(ContinueRunBlock {
            blocks: BlockCatalog::new(services),
            reviews: services.reviews.clone(),
        })
    })
}

struct ContinueRunBlock {
    blocks: BlockCatalog,
    reviews: Arc<dyn Reviews>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContinueRunBlockArguments {
    /// From the review_required response.
    #[schemars(length(min = 1, max = 300))]
    review_id: String,
}

impl ContinueRunBlock {
    /// The review, if it belongs to this session and was approved.
    async fn approved(
        &self,
        user: &UserId,
        id: &ReviewId,
        context: &ToolContext,
    ) -> Result<Review, ToolError> {
        let review = self.reviews.get(user, id).await?;
        // Reviews of other sessions and of executions count as not found.
        let place = session_execution_id(&context.session_id);
        let review = review.filter(|review| review.execution_id == place).ok_or_else(|| {
            let sentence =
                format!("This session has no review {id}. It may have been used already.");
            ToolError::tell("review_not_found", sentence)
        })?;
        match review.status {
            ReviewStatus::Approved => Ok(review),
            ReviewStatus::Waiting => Err(ToolError::tell(
                "review_waiting",
                "The user has not decided yet. Ask them to decide, then call again.",
            )),
            ReviewStatus::Rejected => {
                let why = review.review_message.as_deref().unwrap_or("No reason was given.");
                let sentence = format!("The user rejected it, so it was not run. {why}");
                Err(ToolError::tell("review_rejected", sentence))
            }
        }
    }
}

#[async_trait]
impl TypedTool for ContinueRunBlock {
    type Arguments = ContinueRunBlockArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(NAME, "Run a block that required a review, after the user has approved it.")
            .summary("runs a block that you approved")
            .requires_sign_in()
            .budget(TimeBudget::Own)
            .effect(ToolEffect::Idempotent)
            .labels(ToolLabels::new(
                "Action",
                ToolIcon::Blocks,
                "Running approved block",
                "Ran approved block",
            ))
    }

    async fn call(
        &self,
        arguments: ContinueRunBlockArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let ContinueRunBlockArguments { review_id } = arguments;
        let user = caller::signed_in_user(&context)?;
        let id = ReviewId::from(review_id.trim());
        let review = self.approved(&user, &id, &context).await?;
        let block = reviewed_block(&review.node_id).ok_or_else(|| {
            ToolError::tell("review_not_found", format!("Review {id} does not belong to a block."))
        })?;
        let spec = self.blocks.runnable(block.as_str(), &context)?;
        let Value::Object(input) = review.payload.clone() else {
            let sentence = "The approved payload is not an object with the inputs of the block.";
            return Err(ToolError::tell("invalid_payload", sentence));
        };
        // The user may have edited the inputs.
        if let Some(response) = block_choice::input_problems(spec, &input) {
            return Ok(response);
        }
        let call = BlockCall {
            block_id: spec.id.into(),
            input,
            dry_run: context.dry_run,
            review: Some(id.clone()),
            decision: review.decision(),
        };
        let report = block_call::run(NAME, spec, call, &context).await?;
        if report.succeeded {
            // Not an error: the block has run, and a review that remains is merely shown once more.
            if let Err(error) = self.reviews.remove(&user, &id).await {
                tracing::warn!(%error, session.id = %context.session_id, "could not remove a review after its block ran");
            }
        }
        Ok(report.response)
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample { arguments: json!({"review_id": "no-such-review"}), response: "error" }]
    }
}
