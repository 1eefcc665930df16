//! `AIStructuredResponseGeneratorBlock`: an answer as JSON of a given form, asked again until it has that form.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, Typed, TypedBlock};
use super::json_answer::{Form, complaint};
use super::model::{Asking, Model};
use super::prompt::{Prompt, filled};

pub(super) const MOST_ATTEMPTS: u32 = 10;

pub(super) struct AiStructuredResponseGenerator {
    spec: BlockSpec,
    model: Model,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// What the model is asked. `{{name}}` stands for a value of prompt_values.
    prompt: String,
    /// The keys of the answer, each with a description of its value. Without any, the answer is text under `response`.
    expected_format: Map<String, Value>,
    /// Whether the answer is a list of such objects.
    #[serde(default)]
    list_result: bool,
    /// A model's name. One that this server is not configured with means the one that it is.
    #[serde(default)]
    model: Option<String>,
    /// Instructions that the model follows throughout.
    #[serde(default)]
    sys_prompt: String,
    /// What was said before: objects with role and content.
    #[serde(default)]
    conversation_history: Option<Vec<Value>>,
    /// How often the model may try to answer in the form asked for.
    #[serde(default = "three")]
    #[schemars(range(min = 1))]
    retry: u32,
    /// Values for the prompt, by name.
    #[serde(default)]
    prompt_values: Map<String, Value>,
    /// An answer is cut after about so many tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
}

pub(super) fn three() -> u32 {
    3
}

/// Asks until the answer has the form, and leaves in the prompt what was said on the way.
pub(super) async fn ask_for(
    form: &Form<'_>,
    model: &Model,
    prompt: &mut Prompt,
    asking: &Asking,
    attempts: u32,
    context: &BlockContext,
) -> Result<Value, BlockError> {
    model.must_understand()?;
    prompt.instruct(&form.instructions());
    let mut wrong = String::new();
    for _ in 0..attempts.clamp(1, MOST_ATTEMPTS) {
        let answer = model.ask(prompt, asking, context).await?;
        match form.read(&answer) {
            Ok(value) => return Ok(value),
            Err(what) => {
                prompt.assistant(answer);
                prompt.user(complaint(&what));
                wrong = what;
            }
        }
    }
    Err(BlockError::failed(format!("The model did not answer in the form asked for. {wrong}")))
}

impl AiStructuredResponseGenerator {
    pub(super) fn new(model: Model) -> Typed<Self> {
        let spec = BlockSpec {
            id: "ed55ac19-356e-4243-a6cb-bc599e9b716f",
            name: "AIStructuredResponseGeneratorBlock",
            description: "Asks a language model for an answer with certain keys, and asks again when they are not \
                there.",
            categories: &[BlockCategory::Ai],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::any("response", "The answer, an object, or the list of them."),
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
impl TypedBlock for AiStructuredResponseGenerator {
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
        prompt.history(given.conversation_history.as_deref().unwrap_or_default())?;
        prompt.user(filled(&given.prompt, &given.prompt_values)?);
        let asking = Asking { model: given.model, max_tokens: given.max_tokens };
        let answer = if given.expected_format.is_empty() {
            json!({ "response": self.model.ask(&prompt, &asking, &context).await? })
        } else {
            let form = Form { keys: &given.expected_format, is_list: given.list_result };
            ask_for(&form, &self.model, &mut prompt, &asking, given.retry, &context).await?
        };
        out.emit("response", answer).await?;
        out.emit("prompt", prompt.shown()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::shape(
            json!({ "prompt": "Describe Lisbon.", "expected_format": {} }),
            vec![("response", json!({})), ("prompt", json!([]))],
        )]
    }
}
