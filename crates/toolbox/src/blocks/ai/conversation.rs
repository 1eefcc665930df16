//! `AIConversationBlock`: the model's next message in a conversation.

use super::ai_block::{ai_spec, answered, ask_model, prompt_pin};
use super::model::{ModelCallOptions, ModelClient};
use super::prompt::ModelPrompt;
use super::shared_inputs::{MaxTokens, RequestedModel};
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct AiConversationInput {
    /// The next user message. Leave empty if `messages` already ends with it.
    #[serde(default)]
    prompt: String,
    /// The conversation so far: objects with a role (system, user or assistant) and content.
    messages: Vec<Value>,
    #[serde(default)]
    model: RequestedModel,
    #[serde(default)]
    max_tokens: MaxTokens,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = ai_spec(
        "32a87eab-381e-4dd4-bdb8-4c47151be35a",
        "AIConversationBlock",
        "Continues a conversation: a language model answers the last message.",
    )
    .categories(&[BlockCategory::Ai])
    .outputs([pin::text("response", "The model's answer."), prompt_pin()]);
    let messages = json!([{ "role": "user", "content": "Where is Lisbon?" }]);
    let examples = vec![BlockExample::shape(
        json!({ "messages": messages }),
        vec![("response", json!("In Portugal.")), ("prompt", json!([]))],
    )];
    vec![block(spec, examples, ask_model(dependencies, run))]
}

async fn run(input: AiConversationInput, model: ModelClient) -> Result<PinValues, BlockError> {
    let mut prompt = ModelPrompt::default();
    prompt.history(&input.messages)?;
    if !input.prompt.is_empty() {
        prompt.user(input.prompt);
    }
    let options = ModelCallOptions { model: input.model, max_tokens: input.max_tokens };
    let answer = model.ask(&prompt, &options).await?;
    Ok(answered("response", Value::String(answer), &prompt))
}
