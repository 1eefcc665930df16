//! `CombineTextsBlock`: joins texts with a delimiter.

use crate::blocks::prelude::*;
use crate::blocks::result_limits::text_fits;

#[derive(Deserialize, JsonSchema)]
struct CombineTextsInput {
    /// The texts to join, in order.
    input: Vec<String>,
    /// The text to insert between them. Empty by default.
    #[serde(default)]
    delimiter: String,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "e30a4d42-7b7d-4e6a-b36e-1f9b8e3b7d85",
        "CombineTextsBlock",
        "Joins several texts into one, with an optional delimiter between them.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([pin::text("output", "The joined text.")]);
    let examples = vec![
        BlockExample::exactly(
            json!({ "input": ["one", "two"], "delimiter": ", " }),
            vec![("output", json!("one, two"))],
        ),
        BlockExample::exactly(json!({ "input": ["a", "b"] }), vec![("output", json!("ab"))]),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: CombineTextsInput) -> Result<PinValues, BlockError> {
    let between = input.delimiter.len().saturating_mul(input.input.len());
    text_fits(input.input.iter().map(String::len).sum::<usize>().saturating_add(between))?;
    Ok(vec![("output", input.input.join(&input.delimiter).into())])
}
