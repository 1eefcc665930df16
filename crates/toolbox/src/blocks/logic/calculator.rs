//! `CalculatorBlock`: arithmetic on two numbers.

use serde_json::Number;

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct CalculatorInput {
    /// The operation to perform.
    operation: CalculatorOperation,
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
    /// Round the result to a whole number. Halves round to the even number.
    #[serde(default)]
    round_result: bool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum CalculatorOperation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "b1ab9b19-67a6-406d-abf5-2dba76d00c79",
        "CalculatorBlock",
        "Adds, subtracts, multiplies or divides two numbers, or raises one to the \
         power of the other.",
    )
    .categories(&[BlockCategory::Logic])
    .outputs([pin::number("result", "The result.")]);
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: CalculatorInput) -> Result<PinValues, BlockError> {
    let CalculatorInput { a, b, .. } = input;
    let result = match input.operation {
        CalculatorOperation::Add => a + b,
        CalculatorOperation::Subtract => a - b,
        CalculatorOperation::Multiply => a * b,
        CalculatorOperation::Divide if b == 0.0 => {
            return Err(BlockError::failed("Division by zero."));
        }
        CalculatorOperation::Divide => a / b,
        CalculatorOperation::Power => a.powf(b),
    };
    // JSON cannot represent infinity or NaN; emitting null instead would hide the problem.
    let number = Number::from_f64(result)
        .ok_or_else(|| BlockError::failed("The result is too large or not a number."))?;
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
    fn an_operation_without_a_finite_result_fails() {
        let table = [
            (CalculatorOperation::Divide, 1.0, 0.0),
            (CalculatorOperation::Power, -1.0, 0.5),
            (CalculatorOperation::Power, 10.0, 999.0),
        ];
        for (operation, a, b) in table {
            assert!(
                run(CalculatorInput { operation, a, b, round_result: false }).is_err(),
                "{a} {b}"
            );
        }
    }
}
