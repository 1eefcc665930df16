//! `AIConversationBlock`: the model's next message in a conversation.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::model::{ModelCallOptions, ModelClient};
use super::prompt::ModelPrompt;

pub(super) struct AiConversation {
    spec: BlockSpec,
    model: ModelClient,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct AiConversationInput {
    /// The next user message. Leave empty if `messages` already ends with it.
    #[serde(default)]
    prompt: String,
    /// The conversation so far: objects with a role (system, user or assistant) and content.
    messages: Vec<Value>,
    /// The model to use. Falls back to the server's default if the name is not configured.
    #[serde(default)]
    model: Option<String>,
    /// Approximate maximum length of the answer, in tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
}

impl AiConversation {
    pub(super) fn new(model: ModelClient) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "32a87eab-381e-4dd4-bdb8-4c47151be35a",
            name: "AIConversationBlock",
            description: "Continues a conversation: a language model answers the last message.",
            categories: &[BlockCategory::Ai],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<AiConversationInput>(),
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
impl TypedBlock for AiConversation {
    type Input = AiConversationInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: AiConversationInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let mut prompt = ModelPrompt::default();
        prompt.history(&input.messages)?;
        if !input.prompt.is_empty() {
            prompt.user(input.prompt);
        }
        let options = ModelCallOptions { model: input.model, max_tokens: input.max_tokens };
        let answer = self.model.ask(&prompt, &options, &context).await?;
        out.emit("response", Value::String(answer)).await?;
        out.emit("prompt", prompt.to_json()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let messages = json!([{ "role": "user", "content": "Where is Lisbon?" }]);
        vec![BlockExample::shape(
            json!({ "messages": messages }),
            vec![("response", json!("In Portugal.")), ("prompt", json!([]))],
        )]
    }
}
