//! `IfInputMatchesBlock`: branches on whether the input equals a value.

use crate::blocks::comparison::equal;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct InputMatchesInput {
    /// The value to check.
    input: Value,
    /// The value to compare it with.
    value: Value,
    /// The value to output if they are equal.
    #[serde(default)]
    yes_value: Value,
    /// The value to output if they are different.
    #[serde(default)]
    no_value: Value,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "6dbbc4b3-ca6c-42b6-b508-da52d23e13f2",
        "IfInputMatchesBlock",
        "Checks whether the input equals a value and continues on the yes or the no \
         output.",
    )
    .categories(&[BlockCategory::Logic])
    .outputs([
        pin::boolean("result", "True if the input equals the value."),
        pin::any("yes_output", "The output value if they are equal."),
        pin::any("no_output", "The output value if they are different."),
    ]);
    let matched = |input: Value, value: Value, result: bool, pin, output: Value| {
        BlockExample::exactly(
            json!({ "input": input, "value": value, "yes_value": "yes", "no_value": "no" }),
            vec![("result", json!(result)), (pin, output)],
        )
    };
    let examples = vec![
        matched(json!(10), json!(10.0), true, "yes_output", json!("yes")),
        matched(json!(10), json!("10"), false, "no_output", json!("no")),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: InputMatchesInput) -> Result<PinValues, BlockError> {
    let matches = equal(&input.input, &input.value);
    let branch =
        if matches { ("yes_output", input.yes_value) } else { ("no_output", input.no_value) };
    Ok(vec![("result", matches.into()), branch])
}
