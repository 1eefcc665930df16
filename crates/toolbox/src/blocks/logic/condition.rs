//! One way or the other, by a comparison.

use std::cmp::Ordering;
use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::comparison::{equal, order};
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, boolean, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What stands on the left. A text that is a number counts as the number.
    value1: Value,
    /// How the two are compared.
    operator: Operator,
    /// What stands on the right. A text that is a number counts as the number.
    value2: Value,
    /// What to give when the comparison holds; without it, the first value.
    #[serde(default)]
    yes_value: Value,
    /// What to give when it does not; without it, the second value.
    #[serde(default)]
    no_value: Value,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum Operator {
    #[serde(rename = "==")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = "<=")]
    LessOrEqual,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "715696a0-e1da-45c8-b209-c2fa9c3b0be6",
        name: "ConditionBlock",
        description: "Compares two values and sends the run one way or the other.",
        categories: &[BlockCategory::Logic],
    };
    let compared = |a: Value, operator: &str, b: Value, result: bool, way, value: Value| {
        BlockExample::exactly(
            json!({ "value1": a, "operator": operator, "value2": b }),
            vec![("result", json!(result)), (way, value)],
        )
    };
    let examples = vec![
        BlockExample::exactly(
            json!({
                "value1": 10, "operator": ">", "value2": 5,
                "yes_value": "more", "no_value": "less",
            }),
            vec![("result", json!(true)), ("yes_output", json!("more"))],
        ),
        compared(json!(" 10 "), ">", json!("9"), true, "yes_output", json!(10.0)),
        compared(json!(" a "), "==", json!("b"), false, "no_output", json!("b")),
        compared(json!([1]), "!=", json!({}), true, "yes_output", json!([1])),
        compared(json!(3), "<=", json!("3.0"), true, "yes_output", json!(3)),
    ];
    let spec = about.spec::<Input>(outputs([
        boolean("result", "Whether the comparison holds."),
        any("yes_output", "What is given when it holds."),
        any("no_output", "What is given when it does not."),
    ]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let (left, right) = (comparable(input.value1), comparable(input.value2));
    let ordered = || {
        order(&left, &right).ok_or_else(|| {
            BlockError::failed("These two values have no order: compare numbers, or texts.")
        })
    };
    let holds = match input.operator {
        Operator::Equal => equal(&left, &right),
        Operator::NotEqual => !equal(&left, &right),
        Operator::Greater => ordered()? == Ordering::Greater,
        Operator::Less => ordered()? == Ordering::Less,
        Operator::GreaterOrEqual => ordered()? != Ordering::Less,
        Operator::LessOrEqual => ordered()? != Ordering::Greater,
    };
    let (way, given, otherwise) = if holds {
        ("yes_output", input.yes_value, left)
    } else {
        ("no_output", input.no_value, right)
    };
    Ok(vec![("result", holds.into()), (way, if given.is_null() { otherwise } else { given })])
}

/// A text without the space around it, and as a number if it is one.
fn comparable(value: Value) -> Value {
    let Value::String(text) = value else { return value };
    let text = text.trim();
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.map_or_else(|| json!(text), |number| json!(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_and_a_number_have_no_order() {
        let input = json!({ "value1": "many", "operator": ">", "value2": 1 });
        assert!(run(serde_json::from_value(input).expect("an input")).is_err());
    }
}
