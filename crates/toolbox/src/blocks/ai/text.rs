//! `AITextGeneratorBlock`: a model's answer to a prompt.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::model::{ModelCallOptions, ModelClient};
use super::prompt::{ModelPrompt, fill_values};

pub(super) struct AiTextGenerator {
    spec: BlockSpec,
    model: ModelClient,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct AiTextInput {
    /// The prompt. `{{name}}` inserts a value of prompt_values.
    prompt: String,
    /// The model to use. Falls back to the server's default if the name is not configured.
    #[serde(default)]
    model: Option<String>,
    /// The system prompt.
    #[serde(default)]
    sys_prompt: String,
    /// Ignored. Temporary failures are always retried.
    #[serde(default, rename = "retry")]
    _retry: Option<u32>,
    /// Values to insert into the prompts, by name.
    #[serde(default)]
    prompt_values: Map<String, Value>,
    /// Approximate maximum length of the answer, in tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
}

impl AiTextGenerator {
    pub(super) fn new(model: ModelClient) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "1f292d4a-41a4-4977-9684-7c8d560b9f91",
            name: "AITextGeneratorBlock",
            description: "Sends a prompt to a language model and returns its answer as text.",
            categories: &[BlockCategory::Ai],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<AiTextInput>(),
            outputs: typed::outputs([
                typed::text("response", "The model's answer."),
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
impl TypedBlock for AiTextGenerator {
    type Input = AiTextInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: AiTextInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let mut prompt = ModelPrompt::new(fill_values(&input.sys_prompt, &input.prompt_values)?);
        prompt.user(fill_values(&input.prompt, &input.prompt_values)?);
        let options = ModelCallOptions { model: input.model, max_tokens: input.max_tokens };
        let answer = self.model.ask(&prompt, &options, &context).await?;
        out.emit("response", Value::String(answer)).await?;
        out.emit("prompt", prompt.to_json()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::shape(
            json!({ "prompt": "Say hello to {{name}}.", "prompt_values": { "name": "Ada" } }),
            vec![("response", json!("Hello, Ada!")), ("prompt", json!([]))],
        )]
    }
}
