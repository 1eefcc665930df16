//! `AIStructuredResponseGeneratorBlock`: a JSON answer with given keys; retried until the format is right.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::json_answer::{AnswerFormat, retry_message};
use super::model::{ModelCallOptions, ModelClient};
use super::prompt::{ModelPrompt, fill_values};

pub(super) const MAX_ATTEMPTS: u32 = 10;

pub(super) struct AiStructuredResponseGenerator {
    spec: BlockSpec,
    model: ModelClient,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct StructuredResponseInput {
    /// The prompt. `{{name}}` inserts a value of prompt_values.
    prompt: String,
    /// The keys of the answer, each with a description of its value. If empty, the answer is text under `response`.
    expected_format: Map<String, Value>,
    /// Return a list of such objects.
    #[serde(default)]
    list_result: bool,
    /// The model to use. Falls back to the server's default if the name is not configured.
    #[serde(default)]
    model: Option<String>,
    /// The system prompt.
    #[serde(default)]
    sys_prompt: String,
    /// The conversation so far: objects with role and content.
    #[serde(default)]
    conversation_history: Option<Vec<Value>>,
    /// How many attempts the model has to answer in the expected format.
    #[serde(default = "three")]
    #[schemars(range(min = 1))]
    retry: u32,
    /// Values to insert into the prompts, by name.
    #[serde(default)]
    prompt_values: Map<String, Value>,
    /// Approximate maximum length of the answer, in tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
}

pub(super) fn three() -> u32 {
    3
}

/// Asks until the answer has the format. Failed attempts are appended to the prompt.
pub(super) async fn ask_for_json(
    format: &AnswerFormat<'_>,
    model: &ModelClient,
    prompt: &mut ModelPrompt,
    options: &ModelCallOptions,
    attempts: u32,
    context: &BlockContext,
) -> Result<Value, BlockError> {
    model.require_model()?;
    prompt.instruct(&format.instructions());
    let mut problem = String::new();
    for _ in 0..attempts.clamp(1, MAX_ATTEMPTS) {
        let answer = model.ask(prompt, options, context).await?;
        match format.read(&answer) {
            Ok(value) => return Ok(value),
            Err(reason) => {
                prompt.assistant(answer);
                prompt.user(retry_message(&reason));
                problem = reason;
            }
        }
    }
    Err(BlockError::failed(format!("The model did not answer in the expected format. {problem}")))
}

impl AiStructuredResponseGenerator {
    pub(super) fn new(model: ModelClient) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "ed55ac19-356e-4243-a6cb-bc599e9b716f",
            name: "AIStructuredResponseGeneratorBlock",
            description: "Asks a language model for a JSON answer with the given keys, and retries if keys are missing.",
            categories: &[BlockCategory::Ai],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<StructuredResponseInput>(),
            outputs: typed::outputs([
                typed::any("response", "The answer: an object, or a list of objects."),
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
impl TypedBlock for AiStructuredResponseGenerator {
    type Input = StructuredResponseInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: StructuredResponseInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let mut prompt = ModelPrompt::new(fill_values(&input.sys_prompt, &input.prompt_values)?);
        prompt.history(input.conversation_history.as_deref().unwrap_or_default())?;
        prompt.user(fill_values(&input.prompt, &input.prompt_values)?);
        let options = ModelCallOptions { model: input.model, max_tokens: input.max_tokens };
        let answer = if input.expected_format.is_empty() {
            json!({ "response": self.model.ask(&prompt, &options, &context).await? })
        } else {
            let format = AnswerFormat { keys: &input.expected_format, is_list: input.list_result };
            ask_for_json(&format, &self.model, &mut prompt, &options, input.retry, &context).await?
        };
        out.emit("response", answer).await?;
        out.emit("prompt", prompt.to_json()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::shape(
            json!({ "prompt": "Describe Lisbon.", "expected_format": {} }),
            vec![("response", json!({})), ("prompt", json!([]))],
        )]
    }
}
