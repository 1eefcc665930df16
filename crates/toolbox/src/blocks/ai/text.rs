//! `AITextGeneratorBlock`: the model's answer to a prompt.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, Typed, TypedBlock};
use super::model::{Asking, Model};
use super::prompt::{Prompt, filled};

pub(super) struct AiTextGenerator {
    spec: BlockSpec,
    model: Model,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// What the model is asked. `{{name}}` stands for a value of prompt_values.
    prompt: String,
    /// A model's name. One that this server is not configured with means the one that it is.
    #[serde(default)]
    model: Option<String>,
    /// Instructions that the model follows throughout.
    #[serde(default)]
    sys_prompt: String,
    /// Attempts; kept for agents that set it. Failures that can pass are tried again in any case.
    #[serde(default, rename = "retry")]
    _retry: Option<u32>,
    /// Values for the prompt, by name.
    #[serde(default)]
    prompt_values: Map<String, Value>,
    /// The answer is cut after about so many tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
}

impl AiTextGenerator {
    pub(super) fn new(model: Model) -> Typed<Self> {
        let spec = BlockSpec {
            id: "1f292d4a-41a4-4977-9684-7c8d560b9f91",
            name: "AITextGeneratorBlock",
            description: "Asks a language model and gives its answer as text.",
            categories: &[BlockCategory::Ai],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::text("response", "The answer."),
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
impl TypedBlock for AiTextGenerator {
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
        let mut prompt = Prompt::new(filled(&given.sys_prompt, &given.prompt_values)?);
        prompt.user(filled(&given.prompt, &given.prompt_values)?);
        let asking = Asking { model: given.model, max_tokens: given.max_tokens };
        let answer = self.model.ask(&prompt, &asking, &context).await?;
        out.emit("response", Value::String(answer)).await?;
        out.emit("prompt", prompt.shown()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::shape(
            json!({ "prompt": "Say hello to {{name}}.", "prompt_values": { "name": "Ada" } }),
            vec![("response", json!("Hello, Ada!")), ("prompt", json!([]))],
        )]
    }
}
