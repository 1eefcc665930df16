//! Runs one node: prepares its inputs, asks for a review where required, and runs the block within its time limit.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use ports::Block;
use ports::block::{BlockContext, BlockError, OutputSink, ReviewRequest};
use protocol::execution::SafeMode;
use protocol::review::ReviewDecision;
use serde_json::{Map, Value};

use super::billing;
use super::rehearsal::{self, NodeAnswers, Question};
use crate::EngineInner;
use graphs::{pins, types};

/// Everything one node run needs.
pub(crate) struct NodeTask {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) block: Arc<dyn Block>,
    /// As returned by the plan: nested pins are not merged yet.
    pub(crate) inputs: Map<String, Value>,
    pub(crate) context: BlockContext,
    pub(crate) safe_mode: SafeMode,
    /// How a dry run answers for blocks; `None` if they all run.
    pub(crate) answers: Option<Arc<NodeAnswers>>,
}

impl NodeTask {
    /// A panic of the block becomes a failure of the node.
    pub(crate) async fn run(self, out: Arc<dyn OutputSink>) -> Result<(), BlockError> {
        let name = self.block.spec().name;
        let limit = self.limit();
        let work = AssertUnwindSafe(self.run_block(&*out)).catch_unwind();
        let ended = match limit {
            None => work.await,
            Some(limit) => match tokio::time::timeout(limit, work).await {
                Ok(ended) => ended,
                Err(_) => {
                    let seconds = limit.as_secs();
                    return Err(BlockError::failed(format!("It took longer than {seconds} s.")));
                }
            },
        };
        ended.unwrap_or_else(|_| {
            tracing::error!(block.name = name, "a block panicked");
            Err(BlockError::failed("The block crashed."))
        })
    }

    /// Blocks that wait for other work have no limit of their own.
    fn limit(&self) -> Option<Duration> {
        (!self.block.spec().coordinates).then_some(self.inner.options.node_time)
    }

    async fn run_block(self, out: &dyn OutputSink) -> Result<(), BlockError> {
        let spec = self.block.spec();
        if !self.context.permissions.allow_block(spec.id, spec.name) {
            let message = format!("{} may not be used here.", spec.name);
            return Err(BlockError::Fatal { code: "not_allowed", message });
        }
        let mut inputs = prepare_inputs(&*self.block, self.inputs)?;
        let mut context = self.context;
        if !spec.costs.is_empty() && !context.dry_run {
            billing::check(&self.inner, &context.user).await?;
        }
        if spec.sensitive && self.safe_mode.sensitive_action && !context.dry_run {
            inputs = match context.decision.take() {
                None if is_preapproved(&self.inner, &context).await? => inputs,
                None => return Err(BlockError::Review(review_request(spec.name, inputs))),
                Some(decision) => approved_inputs(decision)?,
            };
        }
        let node = context.node.as_ref().map(|place| place.node_id.clone());
        if let Some(answers) = &self.answers {
            if node.as_ref().is_some_and(|node| answers.fails(node)) {
                return Err(BlockError::failed("The rehearsal lets this step fail."));
            }
            if let Some(by) = answers.answered_by(spec, node.as_ref(), &inputs) {
                let question = Question { spec, answers, inputs: &inputs, by };
                return rehearsal::answer(&self.inner, question, &context, out).await;
            }
            context.ask_first |= node.as_ref().is_some_and(|node| answers.rejects(node));
        }
        let asked = match self.block.run(inputs.clone(), context.clone(), out).await {
            Err(BlockError::Review(asked)) => asked,
            ended => return ended,
        };
        let decision = match &self.answers {
            // A rehearsal asks nobody.
            Some(answers) => answers.decide(node.as_ref(), asked),
            None if is_preapproved(&self.inner, &context).await? => {
                ReviewDecision { approved: true, data: asked.payload, message: None }
            }
            None => return Err(BlockError::Review(asked)),
        };
        context.decision = Some(decision);
        self.block.run(inputs, context, out).await
    }
}

/// Merges nested pins, converts values to their types and checks that required inputs are present.
pub(crate) fn prepare_inputs(
    block: &dyn Block,
    inputs: Map<String, Value>,
) -> Result<Map<String, Value>, BlockError> {
    let spec = block.spec();
    let merged = pins::merge(inputs).map_err(BlockError::Failed)?;
    let whole = types::convert_inputs(merged, spec).map_err(BlockError::Failed)?;
    match spec.required().find(|pin| !whole.contains_key(*pin)) {
        Some(missing) => Err(BlockError::failed(format!("The input {missing} is missing."))),
        None => Ok(whole),
    }
}

pub(crate) fn review_request(name: &str, inputs: Map<String, Value>) -> ReviewRequest {
    ReviewRequest {
        payload: Value::Object(inputs),
        instructions: format!("{name} is about to act with these inputs. Approve?"),
        editable: true,
    }
}

/// The inputs that the reviewer approved.
pub(crate) fn approved_inputs(decision: ReviewDecision) -> Result<Map<String, Value>, BlockError> {
    match (decision.approved, decision.data) {
        (true, Value::Object(inputs)) => Ok(inputs),
        (true, _) => Err(BlockError::failed("The approved data is not a set of inputs.")),
        (false, _) => {
            let reason = decision.message.unwrap_or_else(|| "no reason was given".to_owned());
            Err(BlockError::failed(format!("A person has rejected this: {reason}")))
        }
    }
}

/// Whether a reviewer approved this node for the rest of the execution.
async fn is_preapproved(inner: &EngineInner, context: &BlockContext) -> Result<bool, BlockError> {
    let Some(node) = &context.node else {
        return Ok(false);
    };
    let reviews = &inner.ports.reviews;
    Ok(reviews.approved_for_the_rest(&context.user, &node.execution_id, &node.node_id).await?)
}
