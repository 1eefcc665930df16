//! Answers for a block in a rehearsal instead of running it: with pinned outputs, with those of an earlier execution, with
//! the model if it may be asked, or with data made from schemas.

use std::time::Duration;

use ports::block::{BlockContext, BlockError, OutputSink};
use protocol::block::BlockSpec;
use protocol::rehearsal::AnsweredBy;
use serde_json::{Map, Value};

use super::model_answer::model_answer;
use super::node_answers::NodeAnswers;
use crate::EngineInner;

/// Prefix of errors of the rehearsal itself.
const ERROR_PREFIX: &str = "[SIMULATOR ERROR]";
const MODEL_TIMEOUT: Duration = Duration::from_secs(120);

/// What a block of a rehearsal is asked.
pub(crate) struct Question<'a> {
    pub(crate) spec: &'a BlockSpec,
    pub(crate) answers: &'a NodeAnswers,
    pub(crate) inputs: &'a Map<String, Value>,
    pub(crate) by: AnsweredBy,
}

pub(crate) async fn answer(
    inner: &EngineInner,
    question: Question<'_>,
    context: &BlockContext,
    out: &dyn OutputSink,
) -> Result<(), BlockError> {
    let Question { spec, answers, inputs, by } = question;
    let node = context.node.as_ref().map(|place| &place.node_id);
    let outputs = match by {
        AnsweredBy::Pinned => {
            node.and_then(|node| answers.rehearsal.pinned.get(node)).cloned().unwrap_or_default()
        }
        AnsweredBy::Recording => {
            let recorded = node.and_then(|node| answers.recording.get(node));
            for (pin, value) in recorded.into_iter().flatten() {
                out.emit(pin, Value::clone(value)).await?;
            }
            return Ok(());
        }
        AnsweredBy::Model => tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err(BlockError::Stopped),
            answered = tokio::time::timeout(MODEL_TIMEOUT, model_answer(inner, spec, inputs)) => {
                answered.unwrap_or_else(|_| Err("the model took too long".to_owned()))
                    .map_err(|why| BlockError::failed(format!("{ERROR_PREFIX} {why}.")))?
            }
        },
        AnsweredBy::Sample | AnsweredBy::Decision => answers.sample(spec, node),
    };
    for (pin, value) in outputs {
        out.emit(&pin, value).await?;
    }
    Ok(())
}
