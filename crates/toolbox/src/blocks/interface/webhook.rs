//! The block at which a run begins that a webhook has started.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, Typed, TypedBlock};

pub(super) struct GenericWebhookTrigger {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// What the webhook received; it is put here when the run starts.
    #[serde(default)]
    payload: Map<String, Value>,
    /// Values that every run gets besides.
    #[serde(default)]
    constants: Map<String, Value>,
    /// What the sender has to know. It is checked before the run starts and not given on.
    #[serde(default, rename = "secret_token")]
    _secret_token: Option<String>,
}

impl GenericWebhookTrigger {
    pub(super) fn new() -> Typed<Self> {
        let spec = BlockSpec {
            id: "8fa8c167-2002-47ce-aba8-97572fc5d387",
            name: "GenericWebhookTriggerBlock",
            description: "Starts the agent when its webhook is called, and gives what was received.",
            categories: &[BlockCategory::Input],
            kind: BlockKind::WebhookManual,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::object("payload", "What the webhook received."),
                typed::object("constants", "The constants, unchanged."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec })
    }
}

#[async_trait]
impl TypedBlock for GenericWebhookTrigger {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        out.emit("constants", Value::Object(given.constants)).await?;
        out.emit("payload", Value::Object(given.payload)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::exactly(
            json!({ "payload": { "message": "Hello" }, "constants": { "room": 7 } }),
            vec![("constants", json!({ "room": 7 })), ("payload", json!({ "message": "Hello" }))],
        )]
    }
}
