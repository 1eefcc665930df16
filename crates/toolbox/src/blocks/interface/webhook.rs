//! `GenericWebhookTriggerBlock`: the starting point of runs triggered by a webhook.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct WebhookTriggerInput {
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

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "8fa8c167-2002-47ce-aba8-97572fc5d387",
        "GenericWebhookTriggerBlock",
        "Starts the agent when its webhook is called, and outputs the received data.",
    )
    .categories(&[BlockCategory::Input])
    .kind(BlockKind::WebhookManual)
    .outputs([
        pin::object("payload", "The data the webhook received."),
        pin::object("constants", "The constants, unchanged."),
    ]);
    let examples = vec![BlockExample::exactly(
        json!({ "payload": { "message": "Hello" }, "constants": { "room": 7 } }),
        vec![("constants", json!({ "room": 7 })), ("payload", json!({ "message": "Hello" }))],
    )];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: WebhookTriggerInput) -> Result<PinValues, BlockError> {
    Ok(vec![("constants", input.constants.into()), ("payload", input.payload.into())])
}
