//! Runs a single block and builds the response about its end.

use ports::call_services::{BlockCall, BlockCallEnd};
use ports::store::BlockOutcome;
use ports::tool::{ToolContext, ToolError};
use protocol::block::BlockSpec;
use protocol::limits::MAX_TOOL_WAIT;
use protocol::response::{BlockOutput, ResponseBody, ReviewRequired, ToolResponse};
use protocol::review::Review;
use serde_json::{Map, Value, json};

use super::agent_execution;

/// The response, and whether the block succeeded.
pub(crate) struct BlockCallReport {
    pub(crate) response: ToolResponse,
    pub(crate) succeeded: bool,
}

/// Runs the block. A cancel of the call does not end this wait early: the engine stops the block and settles the cost.
pub(crate) async fn run(
    tool: &'static str,
    spec: &BlockSpec,
    call: BlockCall,
    context: &ToolContext,
) -> Result<BlockCallReport, ToolError> {
    let dry_run = call.dry_run;
    let end = context.services.agents.run_block(call).await?;
    let succeeded = matches!(&end, BlockCallEnd::Done(outcome) if outcome.error.is_none());
    let response = match end {
        BlockCallEnd::Done(outcome) => done(spec, outcome, dry_run),
        BlockCallEnd::Review(review) => needs_review(spec, *review),
        BlockCallEnd::NoFunds => agent_execution::no_funds(),
        BlockCallEnd::TimedOut => {
            tracing::warn!(
                session.id = %context.session_id,
                turn.id = %context.turn_id,
                block.id = spec.id,
                "copilot_tool_timeout tool={tool}"
            );
            timed_out(spec)
        }
        BlockCallEnd::Interrupted => ToolResponse::error(
            "interrupted",
            format!(
                "The server stopped while {} was running. It may or may not have taken effect, so it was not repeated: \
                 tell the user, and run it again only if they agree.",
                spec.name
            ),
        ),
    };
    Ok(BlockCallReport { response, succeeded })
}

fn done(spec: &BlockSpec, outcome: BlockOutcome, dry_run: bool) -> ToolResponse {
    let BlockOutcome { outputs, error } = outcome;
    let outputs = by_pin(outputs);
    if let Some(error) = error {
        return ToolResponse::new(
            format!("{} failed: {error}", spec.name),
            ResponseBody::Error {
                error: Some("block_failed".into()),
                details: (!outputs.is_empty()).then(|| json!({ "outputs": outputs })),
                execution_id: None,
            },
        );
    }
    let message = match dry_run {
        true => format!("Dry run: {} was simulated. Nothing was changed.", spec.name),
        false => format!("{} has finished.", spec.name),
    };
    ToolResponse::new(
        message,
        ResponseBody::BlockOutput(BlockOutput {
            block_id: spec.id.into(),
            block_name: spec.name.into(),
            outputs,
            success: true,
            is_dry_run: dry_run,
        }),
    )
}

/// Groups the values by pin; a pin may emit any number of them.
fn by_pin(outputs: Vec<(String, Value)>) -> Map<String, Value> {
    let mut pins = Map::new();
    for (pin, value) in outputs {
        let values = pins.entry(pin).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(values) = values {
            values.push(value);
        }
    }
    pins
}

fn needs_review(spec: &BlockSpec, review: Review) -> ToolResponse {
    let message = format!(
        "{} has effects outside this conversation, so the user must approve it first, on the review page (or with POST \
         /api/review/action). After the approval, call continue_run_block with review_id {}.",
        spec.name, review.id
    );
    ToolResponse::new(
        message,
        ResponseBody::ReviewRequired(ReviewRequired {
            block_id: spec.id.into(),
            block_name: spec.name.into(),
            review_id: review.id,
            graph_exec_id: review.execution_id,
            input_data: review.payload,
        }),
    )
}

fn timed_out(spec: &BlockSpec) -> ToolResponse {
    let seconds = MAX_TOOL_WAIT.as_secs();
    ToolResponse::error(
        "timed_out",
        format!(
            "{} did not finish within {seconds} seconds and was stopped. For longer work, use an agent (run_agent) or \
             a sub-session (run_sub_session).",
            spec.name
        ),
    )
}
