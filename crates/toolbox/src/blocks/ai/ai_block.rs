//! What the AI blocks have in common: the costs, the run with a model, and the pin for the prompt.

use std::future::Future;

use protocol::block::{BlockCost, CostKind};
use serde::de::DeserializeOwned;

use super::model::ModelClient;
use super::prompt::ModelPrompt;
use crate::blocks::prelude::*;

/// Cost per thousand tokens, prompt and completion.
const COSTS: &[BlockCost] = &[BlockCost { kind: CostKind::Tokens, amount: 1, per: 1000 }];

/// The spec of a block that calls the model.
pub(crate) fn ai_spec(
    id: &'static str,
    name: &'static str,
    description: &'static str,
) -> BlockSpec {
    BlockSpec::new(id, name, description).costs(COSTS)
}

/// The run of a block that calls the model: an asynchronous function from inputs and the model to outputs.
pub(crate) fn ask_model<I, R, P>(
    dependencies: &BlockDependencies,
    run: impl Fn(I, ModelClient) -> R + Send + Sync + 'static,
) -> impl TypedBlock
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    R: Future<Output = Result<Vec<(P, Value)>, BlockError>> + Send + 'static,
    P: AsRef<str> + Send + 'static,
{
    let provider = dependencies.model.clone();
    Async::new(move |input: I, context| run(input, ModelClient::new(&provider, context)))
}

/// The output pin for what was asked.
pub(crate) fn prompt_pin() -> (&'static str, Value) {
    pin::list("prompt", "The messages sent to the model.")
}

/// An answer, and the prompt that it answers.
pub(crate) fn answered(pin: &'static str, answer: Value, prompt: &ModelPrompt) -> PinValues {
    vec![(pin, answer), ("prompt", prompt.to_json())]
}
