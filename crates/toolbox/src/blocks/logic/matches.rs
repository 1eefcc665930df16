//! One way or the other, by a value.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::comparison::equal;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, boolean, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What is looked at.
    input: Value,
    /// What it must be.
    value: Value,
    /// What to give when it is.
    #[serde(default)]
    yes_value: Value,
    /// What to give when it is not.
    #[serde(default)]
    no_value: Value,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "6dbbc4b3-ca6c-42b6-b508-da52d23e13f2",
        name: "IfInputMatchesBlock",
        description: "Sends the run one way if the input is a certain value, and the other way \
                      if not.",
        categories: &[BlockCategory::Logic],
    };
    let matched = |input: Value, value: Value, result: bool, way, given: Value| {
        BlockExample::exactly(
            json!({ "input": input, "value": value, "yes_value": "yes", "no_value": "no" }),
            vec![("result", json!(result)), (way, given)],
        )
    };
    let examples = vec![
        matched(json!(10), json!(10.0), true, "yes_output", json!("yes")),
        matched(json!(10), json!("10"), false, "no_output", json!("no")),
    ];
    let spec = about.spec::<Input>(outputs([
        boolean("result", "Whether the input is the value."),
        any("yes_output", "What is given when it is."),
        any("no_output", "What is given when it is not."),
    ]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let matches = equal(&input.input, &input.value);
    let way = if matches { ("yes_output", input.yes_value) } else { ("no_output", input.no_value) };
    Ok(vec![("result", matches.into()), way])
}
