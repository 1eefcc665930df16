//! `ConditionBlock`: branches on a comparison.

use std::cmp::Ordering;

use crate::blocks::comparison::{equal, order};
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct ConditionInput {
    /// The left value. Numeric text is compared as a number.
    value1: Value,
    /// How to compare the two values.
    operator: ComparisonOperator,
    /// The right value. Numeric text is compared as a number.
    value2: Value,
    /// The value to output if the comparison is true. Defaults to the left value.
    #[serde(default)]
    yes_value: Value,
    /// The value to output if it is false. Defaults to the right value.
    #[serde(default)]
    no_value: Value,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum ComparisonOperator {
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

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "715696a0-e1da-45c8-b209-c2fa9c3b0be6",
        "ConditionBlock",
        "Compares two values and continues on the yes or the no output.",
    )
    .categories(&[BlockCategory::Logic])
    .outputs([
        pin::boolean("result", "The result of the comparison."),
        pin::any("yes_output", "The output value if the comparison is true."),
        pin::any("no_output", "The output value if the comparison is false."),
    ]);
    let compared = |a: Value, operator: &str, b: Value, result: bool, pin, value: Value| {
        BlockExample::exactly(
            json!({ "value1": a, "operator": operator, "value2": b }),
            vec![("result", json!(result)), (pin, value)],
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: ConditionInput) -> Result<PinValues, BlockError> {
    let (left, right) = (comparable(input.value1), comparable(input.value2));
    let ordered = || {
        order(&left, &right).ok_or_else(|| {
            BlockError::failed("These values cannot be ordered. Compare two numbers or two texts.")
        })
    };
    let holds = match input.operator {
        ComparisonOperator::Equal => equal(&left, &right),
        ComparisonOperator::NotEqual => !equal(&left, &right),
        ComparisonOperator::Greater => ordered()? == Ordering::Greater,
        ComparisonOperator::Less => ordered()? == Ordering::Less,
        ComparisonOperator::GreaterOrEqual => ordered()? != Ordering::Less,
        ComparisonOperator::LessOrEqual => ordered()? != Ordering::Greater,
    };
    let (pin, value, fallback) = if holds {
        ("yes_output", input.yes_value, left)
    } else {
        ("no_output", input.no_value, right)
    };
    Ok(vec![("result", holds.into()), (pin, if value.is_null() { fallback } else { value })])
}

/// Trims a text, and converts it to a number if it is numeric.
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
    fn a_text_and_a_number_cannot_be_ordered() {
        let input = json!({ "value1": "many", "operator": ">", "value2": 1 });
        assert!(run(serde_json::from_value(input).expect("an input")).is_err());
    }
}
