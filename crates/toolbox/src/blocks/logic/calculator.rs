//! Two numbers and what becomes of them.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{number, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What to do with the numbers.
    operation: Operation,
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
    /// Whether to round the result to a whole number; a half goes to the even one.
    #[serde(default)]
    round_result: bool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "b1ab9b19-67a6-406d-abf5-2dba76d00c79",
        name: "CalculatorBlock",
        description: "Adds, subtracts, multiplies or divides two numbers, or raises one to the \
                      power of the other.",
        categories: &[BlockCategory::Logic],
    };
    let result = |operation: &str, a: f64, b: f64, round: bool, result: Value| {
        BlockExample::exactly(
            json!({ "operation": operation, "a": a, "b": b, "round_result": round }),
            vec![("result", result)],
        )
    };
    let examples = vec![
        result("Add", 10.0, 5.0, false, json!(15.0)),
        result("Subtract", 1.0, 0.5, false, json!(0.5)),
        result("Multiply", 2.5, 1.0, true, json!(2)),
        result("Divide", 7.0, 2.0, false, json!(3.5)),
        result("Power", 2.0, 10.0, true, json!(1024)),
    ];
    let spec = about.spec::<Input>(outputs([number("result", "The result.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let Input { a, b, .. } = input;
    let result = match input.operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide if b == 0.0 => {
            return Err(BlockError::failed("A number cannot be divided by zero."));
        }
        Operation::Divide => a / b,
        Operation::Power => a.powf(b),
    };
    // JSON has no word for infinity, and a result that is silently nothing would mislead whoever uses it.
    let number = Number::from_f64(result)
        .ok_or_else(|| BlockError::failed("The result is too large, or no number at all."))?;
    Ok(vec![("result", if input.round_result { rounded(result) } else { number.into() })])
}

fn rounded(result: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let rounded = result.round_ties_even();
    if rounded.abs() <= EXACT { json!(rounded as i64) } else { json!(rounded) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_result_says_so() {
        let table = [
            (Operation::Divide, 1.0, 0.0),
            (Operation::Power, -1.0, 0.5),
            (Operation::Power, 10.0, 999.0),
        ];
        for (operation, a, b) in table {
            assert!(run(Input { operation, a, b, round_result: false }).is_err(), "{a} {b}");
        }
    }
}
