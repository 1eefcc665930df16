//! `AIConversationBlock`: the model's next words in a conversation.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, Typed, TypedBlock};
use super::model::{Asking, Model};
use super::prompt::Prompt;

pub(super) struct AiConversation {
    spec: BlockSpec,
    model: Model,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// What is said next; empty when the messages end with it.
    #[serde(default)]
    prompt: String,
    /// The conversation so far: objects with role (system, user, assistant) and content.
    messages: Vec<Value>,
    /// A model's name. One that this server is not configured with means the one that it is.
    #[serde(default)]
    model: Option<String>,
    /// The answer is cut after about so many tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
}

impl AiConversation {
    pub(super) fn new(model: Model) -> Typed<Self> {
        let spec = BlockSpec {
            id: "32a87eab-381e-4dd4-bdb8-4c47151be35a",
            name: "AIConversationBlock",
            description: "Goes on with a conversation: a language model answers the last message, knowing those \
                before it.",
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
impl TypedBlock for AiConversation {
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
        let mut prompt = Prompt::default();
        prompt.history(&given.messages)?;
        if !given.prompt.is_empty() {
            prompt.user(given.prompt);
        }
        let asking = Asking { model: given.model, max_tokens: given.max_tokens };
        let answer = self.model.ask(&prompt, &asking, &context).await?;
        out.emit("response", Value::String(answer)).await?;
        out.emit("prompt", prompt.shown()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let messages = json!([{ "role": "user", "content": "Where is Lisbon?" }]);
        vec![BlockExample::shape(
            json!({ "messages": messages }),
            vec![("response", json!("In Portugal.")), ("prompt", json!([]))],
        )]
    }
}
