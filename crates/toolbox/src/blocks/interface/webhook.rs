//! `GenericWebhookTriggerBlock`: the starting point of runs triggered by a webhook.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};

pub(super) struct GenericWebhookTrigger {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct WebhookTriggerInput {
    /// The data the webhook received. Set when the run starts.
    #[serde(default)]
    payload: Map<String, Value>,
    /// Constant values passed to every run.
    #[serde(default)]
    constants: Map<String, Value>,
    /// The secret the sender must provide. Checked before the run starts, and not passed on.
    #[serde(default, rename = "secret_token")]
    _secret_token: Option<String>,
}

impl GenericWebhookTrigger {
    pub(super) fn new() -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "8fa8c167-2002-47ce-aba8-97572fc5d387",
            name: "GenericWebhookTriggerBlock",
            description: "Starts the agent when its webhook is called, and outputs the received data.",
            categories: &[BlockCategory::Input],
            kind: BlockKind::WebhookManual,
            inputs: typed::inputs::<WebhookTriggerInput>(),
            outputs: typed::outputs([
                typed::object("payload", "The data the webhook received."),
                typed::object("constants", "The constants, unchanged."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec })
    }
}

#[async_trait]
impl TypedBlock for GenericWebhookTrigger {
    type Input = WebhookTriggerInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: WebhookTriggerInput,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        out.emit("constants", Value::Object(input.constants)).await?;
        out.emit("payload", Value::Object(input.payload)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::exactly(
            json!({ "payload": { "message": "Hello" }, "constants": { "room": 7 } }),
            vec![("constants", json!({ "room": 7 })), ("payload", json!({ "message": "Hello" }))],
        )]
    }
}
