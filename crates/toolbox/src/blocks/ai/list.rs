//! `AIListGeneratorBlock`: a model writes a list, from source data or its own knowledge.

use super::ai_block::{ai_spec, answered, ask_model, prompt_pin};
use super::json_answer::AnswerFormat;
use super::model::{ModelCallOptions, ModelClient};
use super::prompt::ModelPrompt;
use super::shared_inputs::{Attempts, MaxTokens, RequestedModel};
use crate::blocks::prelude::*;
use crate::values::into_text;

const KEY: &str = "list";

#[derive(Deserialize, JsonSchema)]
struct AiListInput {
    /// The topic of the list.
    #[serde(default)]
    focus: Option<String>,
    /// The data to extract items from. If empty, the model makes them up.
    #[serde(default)]
    source_data: Option<String>,
    #[serde(default)]
    model: RequestedModel,
    /// How many attempts the model has to write a valid list.
    #[serde(default)]
    #[schemars(range(max = 5))]
    max_retries: Attempts,
    #[serde(default)]
    max_tokens: MaxTokens,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = ai_spec(
        "9c0b0450-d199-458b-a731-072189dd6593",
        "AIListGeneratorBlock",
        "Generates a list of texts with a language model, optionally from source data.",
    )
    .categories(&[BlockCategory::Ai, BlockCategory::Text])
    .outputs([
        pin::list("generated_list", "The generated list."),
        pin::text("list_item", "Each item, emitted one at a time."),
        prompt_pin(),
    ]);
    // No examples: a list needs a real model, so no example can run in isolation.
    vec![block(spec, Vec::new(), ask_model(dependencies, run))]
}

async fn run(input: AiListInput, model: ModelClient) -> Result<PinValues, BlockError> {
    let mut prompt = ModelPrompt::new("You write lists. Every item is a separate text.");
    prompt.user(list_prompt(&input));
    let keys = Map::from_iter([(KEY.to_owned(), json!("an array of strings: the items"))]);
    let format = AnswerFormat { keys: &keys, is_list: false };
    let options = ModelCallOptions { model: input.model, max_tokens: input.max_tokens };
    let mut answer = format.ask(&model, &mut prompt, &options, input.max_retries.limited()).await?;
    let Value::Array(items) = answer[KEY].take() else {
        return Err(BlockError::failed("The model did not return a list."));
    };
    let items: Vec<Value> = items.into_iter().map(|item| Value::String(into_text(item))).collect();
    let mut outputs = answered("generated_list", Value::Array(items.clone()), &prompt);
    outputs.extend(items.into_iter().map(|item| ("list_item", item)));
    Ok(outputs)
}

fn list_prompt(input: &AiListInput) -> String {
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    match (filled(&input.focus), filled(&input.source_data)) {
        (Some(focus), Some(data)) => format!(
            "Make a list of: {focus}\n\nTake the items only from this data:\n<data>\n{data}\n</data>"
        ),
        (Some(focus), None) => format!("Make a list of: {focus}\n\nMake up the items."),
        (None, Some(data)) => format!(
            "Make a list of the main items in this data, and only of what it contains:\n<data>\n{data}\n</data>"
        ),
        (None, None) => "Make a list of any items.".to_owned(),
    }
}
