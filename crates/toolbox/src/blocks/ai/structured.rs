//! `AIStructuredResponseGeneratorBlock`: a JSON answer with given keys; retried until the format is right.

use super::ai_block::{ai_spec, answered, ask_model, prompt_pin};
use super::json_answer::AnswerFormat;
use super::model::{ModelCallOptions, ModelClient};
use super::prompt::ModelPrompt;
use super::shared_inputs::{Attempts, PromptOptions, RequestedModel};
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct StructuredResponseInput {
    /// The prompt. `{{name}}` inserts a value of prompt_values.
    prompt: String,
    /// The keys of the answer, each with a description of its value. If empty, the answer is text under `response`.
    expected_format: Map<String, Value>,
    /// Return a list of such objects.
    #[serde(default)]
    list_result: bool,
    #[serde(default)]
    model: RequestedModel,
    /// The system prompt.
    #[serde(default)]
    sys_prompt: String,
    /// The conversation so far: objects with role and content.
    #[serde(default)]
    conversation_history: Option<Vec<Value>>,
    /// How many attempts the model has to answer in the expected format.
    #[serde(default)]
    retry: Attempts,
    #[serde(flatten)]
    options: PromptOptions,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = ai_spec(
        "ed55ac19-356e-4243-a6cb-bc599e9b716f",
        "AIStructuredResponseGeneratorBlock",
        "Asks a language model for a JSON answer with the given keys, and retries if keys are \
         missing.",
    )
    .categories(&[BlockCategory::Ai])
    .outputs([pin::any("response", "The answer: an object, or a list of objects."), prompt_pin()]);
    let examples = vec![BlockExample::shape(
        json!({ "prompt": "Describe Lisbon.", "expected_format": {} }),
        vec![("response", json!({})), ("prompt", json!([]))],
    )];
    vec![block(spec, examples, ask_model(dependencies, run))]
}

async fn run(input: StructuredResponseInput, model: ModelClient) -> Result<PinValues, BlockError> {
    let mut prompt = ModelPrompt::new(input.options.prompt_values.fill(&input.sys_prompt)?);
    prompt.history(input.conversation_history.as_deref().unwrap_or_default())?;
    prompt.user(input.options.prompt_values.fill(&input.prompt)?);
    let options = ModelCallOptions { model: input.model, max_tokens: input.options.max_tokens };
    let answer = if input.expected_format.is_empty() {
        json!({ "response": model.ask(&prompt, &options).await? })
    } else {
        let format = AnswerFormat { keys: &input.expected_format, is_list: input.list_result };
        format.ask(&model, &mut prompt, &options, input.retry.limited()).await?
    };
    Ok(answered("response", answer, &prompt))
}
