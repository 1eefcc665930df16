//! Answers for a block in a rehearsal instead of running it: with pinned outputs, with the model if it may be asked, or
//! with data made from the block's schema.

use std::time::Duration;

use graphs::samples;
use ports::block::{BlockContext, BlockError, OutputSink};
use protocol::block::{BlockKind, BlockSpec};
use protocol::rehearsal::{AnsweredBy, Rehearsal};
use protocol::tool::ToolEffect;
use serde_json::{Map, Value};

use super::model_answer::model_answer;
use crate::EngineInner;
use crate::execution::AUTOPILOT;

/// Prefix of errors of the rehearsal itself.
const ERROR_PREFIX: &str = "[SIMULATOR ERROR]";
const MODEL_TIMEOUT: Duration = Duration::from_secs(120);

/// Who answers for the block; `None` if it runs: blocks without effects do, and those that only pass values on.
pub(crate) fn answered_by(
    spec: &BlockSpec,
    rehearsal: &Rehearsal,
    node: Option<&protocol::NodeId>,
    has_model: bool,
) -> Option<AnsweredBy> {
    if node.is_some_and(|node| rehearsal.pinned.contains_key(node)) {
        return Some(AnsweredBy::Pinned);
    }
    if matches!(spec.kind, BlockKind::Agent | BlockKind::Input | BlockKind::Output) {
        return None;
    }
    let may_ask = rehearsal.use_model && has_model;
    let acts = spec.effect != ToolEffect::None || spec.kind == BlockKind::Ai || spec.sensitive;
    // The copilot's turn is a dry run itself, and blocks that ask the model may ask it.
    let asks_model = spec.id == AUTOPILOT || spec.asks_model();
    let is_answered = if asks_model { !rehearsal.use_model } else { acts || spec.outside };
    is_answered.then_some(if may_ask { AnsweredBy::Model } else { AnsweredBy::Sample })
}

/// What a block of a rehearsal is asked.
pub(crate) struct Question<'a> {
    pub(crate) spec: &'a BlockSpec,
    pub(crate) rehearsal: &'a Rehearsal,
    pub(crate) inputs: &'a Map<String, Value>,
    pub(crate) by: AnsweredBy,
}

pub(crate) async fn answer(
    inner: &EngineInner,
    question: Question<'_>,
    context: &BlockContext,
    out: &dyn OutputSink,
) -> Result<(), BlockError> {
    let Question { spec, rehearsal, inputs, by } = question;
    let node = context.node.as_ref().map(|place| &place.node_id);
    if node.is_some() && rehearsal.failing.as_ref() == node {
        return Err(BlockError::failed("The rehearsal lets this step fail."));
    }
    let outputs = match by {
        AnsweredBy::Pinned => {
            node.and_then(|node| rehearsal.pinned.get(node)).cloned().unwrap_or_default()
        }
        AnsweredBy::Model => tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err(BlockError::Stopped),
            answered = tokio::time::timeout(MODEL_TIMEOUT, model_answer(inner, spec, inputs)) => {
                answered.unwrap_or_else(|_| Err("the model took too long".to_owned()))
                    .map_err(|why| BlockError::failed(format!("{ERROR_PREFIX} {why}.")))?
            }
        },
        AnsweredBy::Sample => sample_outputs(spec, rehearsal.seed),
    };
    for (pin, value) in outputs {
        out.emit(&pin, value).await?;
    }
    Ok(())
}

/// A value for every output pin of the block, except `error`.
fn sample_outputs(spec: &BlockSpec, seed: u64) -> Map<String, Value> {
    let pins = spec.outputs.get("properties").and_then(Value::as_object);
    let outputs = pins.into_iter().flatten().filter(|(pin, _)| *pin != "error");
    outputs.map(|(pin, schema)| (pin.clone(), samples::sample(schema, pin, seed))).collect()
}
