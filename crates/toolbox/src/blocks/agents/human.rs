//! `HumanInTheLoopBlock`: pauses until a person approves or rejects the data.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink, ReviewRequest};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};

pub(super) struct HumanInTheLoop {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct HumanReviewInput {
    /// The data to review.
    data: Value,
    /// A short description of the data, shown to the reviewer.
    name: String,
    /// Let the reviewer edit the data.
    #[serde(default = "yes")]
    editable: bool,
}

fn yes() -> bool {
    true
}

impl HumanInTheLoop {
    pub(super) fn new() -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "8b2a7b3c-6e9d-4a5f-8c1b-2e3f4a5b6c7d",
            name: "HumanInTheLoopBlock",
            description: "Pauses the run until a person approves or rejects the data.",
            categories: &[BlockCategory::Basic],
            kind: BlockKind::HumanInTheLoop,
            inputs: typed::inputs::<HumanReviewInput>(),
            outputs: typed::outputs([
                typed::any(
                    "approved_data",
                    "The data as approved, including the reviewer's edits.",
                ),
                typed::any("rejected_data", "The data, if it was rejected."),
                typed::text("review_message", "The reviewer's comment."),
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
impl TypedBlock for HumanInTheLoop {
    type Input = HumanReviewInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: HumanReviewInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let HumanReviewInput { data, name, editable } = input;
        let Some(decision) = context.decision else {
            if context.ask_first {
                return Err(BlockError::Review(ReviewRequest {
                    payload: data,
                    instructions: name,
                    editable,
                }));
            }
            out.emit("approved_data", data).await?;
            return out.emit("review_message", json!("Approved automatically.")).await;
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
                ("review_message", json!("Approved automatically.")),
            ],
        )]
    }
}
