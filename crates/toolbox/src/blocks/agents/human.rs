//! `HumanInTheLoopBlock`: a person looks at the data before the agent goes on with it.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink, ReviewRequest};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, Typed, TypedBlock};

pub(super) struct HumanInTheLoop {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// What the person sees.
    data: Value,
    /// What it is, in a few words.
    name: String,
    /// Whether the person may change it.
    #[serde(default = "yes")]
    editable: bool,
}

fn yes() -> bool {
    true
}

impl HumanInTheLoop {
    pub(super) fn new() -> Typed<Self> {
        let spec = BlockSpec {
            id: "8b2a7b3c-6e9d-4a5f-8c1b-2e3f4a5b6c7d",
            name: "HumanInTheLoopBlock",
            description: "Waits until a person has approved or rejected the data, and gives it on accordingly.",
            categories: &[BlockCategory::Basic],
            kind: BlockKind::HumanInTheLoop,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::any("approved_data", "The data, as it was approved."),
                typed::any("rejected_data", "The data, if it was rejected."),
                typed::text("review_message", "What the person said about it."),
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
impl TypedBlock for HumanInTheLoop {
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
        let Given { data, name, editable } = given;
        let Some(decision) = context.decision else {
            if context.ask_first {
                return Err(BlockError::Review(ReviewRequest {
                    payload: data,
                    instructions: name,
                    editable,
                }));
            }
            out.emit("approved_data", data).await?;
            return out.emit("review_message", json!("Approved without being asked for.")).await;
        };
        let pin = if decision.approved { "approved_data" } else { "rejected_data" };
        out.emit(pin, decision.data).await?;
        match decision.message.filter(|message| !message.is_empty()) {
            Some(message) => out.emit("review_message", Value::String(message)).await,
            None => Ok(()),
        }
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::exactly(
            json!({ "data": { "amount": 30 }, "name": "The order", "editable": true }),
            vec![
                ("approved_data", json!({ "amount": 30 })),
                ("review_message", json!("Approved without being asked for.")),
            ],
        )]
    }
}
