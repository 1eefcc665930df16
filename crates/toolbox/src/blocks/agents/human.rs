//! `HumanInTheLoopBlock`: pauses until a person approves or rejects the data.

use ports::block::ReviewRequest;

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct HumanReviewInput {
    /// The data to review.
    data: Value,
    /// A short description of the data, shown to the reviewer.
    name: String,
    /// Let the reviewer edit the data.
    #[serde(default = "yes")]
    editable: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "8b2a7b3c-6e9d-4a5f-8c1b-2e3f4a5b6c7d",
        "HumanInTheLoopBlock",
        "Pauses the run until a person approves or rejects the data.",
    )
    .categories(&[BlockCategory::Basic])
    .kind(BlockKind::HumanInTheLoop)
    .outputs([
        pin::any("approved_data", "The data as approved, including the reviewer's edits."),
        pin::any("rejected_data", "The data, if it was rejected."),
        pin::text("review_message", "The reviewer's comment."),
    ]);
    let examples = vec![BlockExample::exactly(
        json!({ "data": { "amount": 30 }, "name": "The order", "editable": true }),
        vec![
            ("approved_data", json!({ "amount": 30 })),
            ("review_message", json!("Approved automatically.")),
        ],
    )];
    vec![block(spec, examples, Async::new(run))]
}

async fn run(input: HumanReviewInput, context: BlockContext) -> Result<PinValues, BlockError> {
    let HumanReviewInput { data, name, editable } = input;
    let Some(decision) = context.decision else {
        if context.ask_first {
            return Err(BlockError::Review(ReviewRequest {
                payload: data,
                instructions: name,
                editable,
            }));
        }
        let message = json!("Approved automatically.");
        return Ok(vec![("approved_data", data), ("review_message", message)]);
    };
    let pin = if decision.approved { "approved_data" } else { "rejected_data" };
    let message = decision.message.filter(|message| !message.is_empty());
    let mut outputs = vec![(pin, decision.data)];
    outputs.extend(message.map(|message| ("review_message", Value::String(message))));
    Ok(outputs)
}
