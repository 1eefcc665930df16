//! `AIListGeneratorBlock`: a list of texts, found in some data or thought up by the model.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, Typed, TypedBlock};
use super::json_answer::Form;
use super::model::{Asking, Model};
use super::prompt::Prompt;
use super::structured::{ask_for, three};
use crate::values::into_text;

const KEY: &str = "list";

pub(super) struct AiListGenerator {
    spec: BlockSpec,
    model: Model,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// What the list is about.
    #[serde(default)]
    focus: Option<String>,
    /// Data to take the items from. Without it the model thinks them up.
    #[serde(default)]
    source_data: Option<String>,
    /// A model's name. One that this server is not configured with means the one that it is.
    #[serde(default)]
    model: Option<String>,
    /// How often the model may try to write a list.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 5))]
    max_retries: u32,
    /// An answer is cut after about so many tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
}

impl AiListGenerator {
    pub(super) fn new(model: Model) -> Typed<Self> {
        let spec = BlockSpec {
            id: "9c0b0450-d199-458b-a731-072189dd6593",
            name: "AIListGeneratorBlock",
            description: "Has a language model write a list of texts, from given data if there is any, and gives the \
                list and each of its items.",
            categories: &[BlockCategory::Ai, BlockCategory::Text],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::list("generated_list", "The list, of texts."),
                typed::text("list_item", "One item after the other."),
                typed::list("prompt", "What was asked, message by message."),
            ]),
            effect: ToolEffect::None,
            costs: super::COSTS,
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, model })
    }
}

#[async_trait]
impl TypedBlock for AiListGenerator {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let mut prompt = Prompt::new("You write lists. Every item is a text of its own.");
        prompt.user(question(&given));
        let keys = Map::from_iter([(KEY.to_owned(), json!("an array of strings: the items"))]);
        let form = Form { keys: &keys, is_list: false };
        let asking = Asking { model: given.model, max_tokens: given.max_tokens };
        let mut answer =
            ask_for(&form, &self.model, &mut prompt, &asking, given.max_retries, &context).await?;
        let Value::Array(items) = answer[KEY].take() else {
            return Err(BlockError::failed("The model did not write a list."));
        };
        let items: Vec<Value> =
            items.into_iter().map(|item| Value::String(into_text(item))).collect();
        out.emit("generated_list", Value::Array(items.clone())).await?;
        out.emit("prompt", prompt.shown()).await?;
        for item in items {
            out.emit("list_item", item).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        // Nothing can be said of a list without a model that understands the question.
        Vec::new()
    }
}

fn question(given: &Given) -> String {
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    match (filled(&given.focus), filled(&given.source_data)) {
        (Some(focus), Some(data)) => format!(
            "Make a list of: {focus}\n\nTake the items from this data, and only from it:\n<data>\n{data}\n</data>"
        ),
        (Some(focus), None) => format!("Make a list of: {focus}\n\nThink up the items."),
        (None, Some(data)) => format!(
            "Make a list of the main items of this data, and of nothing that is not in it:\n<data>\n{data}\n</data>"
        ),
        (None, None) => "Make a list of anything you like.".to_owned(),
    }
}
