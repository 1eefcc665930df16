//! `AIListGeneratorBlock`: a model writes a list, from source data or its own knowledge.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::json_answer::AnswerFormat;
use super::model::{ModelCallOptions, ModelClient};
use super::prompt::ModelPrompt;
use super::structured::{ask_for_json, three};
use crate::values::into_text;

const KEY: &str = "list";

pub(super) struct AiListGenerator {
    spec: BlockSpec,
    model: ModelClient,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct AiListInput {
    /// The topic of the list.
    #[serde(default)]
    focus: Option<String>,
    /// The data to extract items from. If empty, the model makes them up.
    #[serde(default)]
    source_data: Option<String>,
    /// The model to use. Falls back to the server's default if the name is not configured.
    #[serde(default)]
    model: Option<String>,
    /// How many attempts the model has to write a valid list.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 5))]
    max_retries: u32,
    /// Approximate maximum length of the answer, in tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
}

impl AiListGenerator {
    pub(super) fn new(model: ModelClient) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "9c0b0450-d199-458b-a731-072189dd6593",
            name: "AIListGeneratorBlock",
            description: "Generates a list of texts with a language model, optionally from source data.",
            categories: &[BlockCategory::Ai, BlockCategory::Text],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<AiListInput>(),
            outputs: typed::outputs([
                typed::list("generated_list", "The generated list."),
                typed::text("list_item", "Each item, emitted one at a time."),
                typed::list("prompt", "The messages sent to the model."),
            ]),
            effect: ToolEffect::None,
            costs: super::COSTS,
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec, model })
    }
}

#[async_trait]
impl TypedBlock for AiListGenerator {
    type Input = AiListInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: AiListInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let mut prompt = ModelPrompt::new("You write lists. Every item is a separate text.");
        prompt.user(list_prompt(&input));
        let keys = Map::from_iter([(KEY.to_owned(), json!("an array of strings: the items"))]);
        let format = AnswerFormat { keys: &keys, is_list: false };
        let options = ModelCallOptions { model: input.model, max_tokens: input.max_tokens };
        let mut answer =
            ask_for_json(&format, &self.model, &mut prompt, &options, input.max_retries, &context)
                .await?;
        let Value::Array(items) = answer[KEY].take() else {
            return Err(BlockError::failed("The model did not return a list."));
        };
        let items: Vec<Value> =
            items.into_iter().map(|item| Value::String(into_text(item))).collect();
        out.emit("generated_list", Value::Array(items.clone())).await?;
        out.emit("prompt", prompt.to_json()).await?;
        for item in items {
            out.emit("list_item", item).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        // A list needs a real model, so no example can run in isolation.
        Vec::new()
    }
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
