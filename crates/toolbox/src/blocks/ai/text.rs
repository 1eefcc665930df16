//! `AITextGeneratorBlock`: a model's answer to a prompt.

use super::ai_block::{ai_spec, answered, ask_model, prompt_pin};
use super::model::{ModelCallOptions, ModelClient};
use super::prompt::ModelPrompt;
use super::shared_inputs::{PromptOptions, RequestedModel};
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct AiTextInput {
    /// The prompt. `{{name}}` inserts a value of prompt_values.
    prompt: String,
    #[serde(default)]
    model: RequestedModel,
    /// The system prompt.
    #[serde(default)]
    sys_prompt: String,
    /// Ignored. Temporary failures are always retried.
    #[serde(default, rename = "retry")]
    _retry: Option<u32>,
    #[serde(flatten)]
    options: PromptOptions,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = ai_spec(
        "1f292d4a-41a4-4977-9684-7c8d560b9f91",
        "AITextGeneratorBlock",
        "Sends a prompt to a language model and returns its answer as text.",
    )
    .categories(&[BlockCategory::Ai])
    .outputs([pin::text("response", "The model's answer."), prompt_pin()]);
    let examples = vec![BlockExample::shape(
        json!({ "prompt": "Say hello to {{name}}.", "prompt_values": { "name": "Ada" } }),
        vec![("response", json!("Hello, Ada!")), ("prompt", json!([]))],
    )];
    vec![block(spec, examples, ask_model(dependencies, run))]
}

async fn run(input: AiTextInput, model: ModelClient) -> Result<PinValues, BlockError> {
    let mut prompt = ModelPrompt::new(input.options.prompt_values.fill(&input.sys_prompt)?);
    prompt.user(input.options.prompt_values.fill(&input.prompt)?);
    let options = ModelCallOptions { model: input.model, max_tokens: input.options.max_tokens };
    let answer = model.ask(&prompt, &options).await?;
    Ok(answered("response", Value::String(answer), &prompt))
}
