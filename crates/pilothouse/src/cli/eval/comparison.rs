//! Compares the outputs of a rehearsal with what a task expects.

use serde_json::{Map, Value};

use super::eval_task::ExpectedRehearsal;

/// The first output that is not as expected.
pub(crate) fn difference(
    rehearsal: &ExpectedRehearsal,
    outputs: &Map<String, Value>,
) -> Option<String> {
    rehearsal.outputs.iter().find_map(|(name, expected)| {
        let values = outputs.get(name);
        let is_same = values.is_some_and(|values| match values.as_array().map(Vec::as_slice) {
            Some([value]) => same(value, expected) || same(values, expected),
            _ => same(values, expected),
        });
        let got = values.map_or_else(|| "nothing".to_owned(), Value::to_string);
        (!is_same).then(|| format!("{name} is {got}, not {expected}"))
    })
}

/// 3 and 3.0 are the same number.
fn same(value: &Value, expected: &Value) -> bool {
    const TOLERANCE: f64 = 1e-9;
    match (value, expected) {
        (Value::Number(value), Value::Number(expected)) => {
            match (value.as_f64(), expected.as_f64()) {
                (Some(value), Some(expected)) => {
                    (value - expected).abs() <= TOLERANCE * expected.abs().max(1.0)
                }
                _ => value == expected,
            }
        }
        (Value::Array(values), Value::Array(expected)) => {
            values.len() == expected.len()
                && values.iter().zip(expected).all(|(value, expected)| same(value, expected))
        }
        (Value::Object(values), Value::Object(expected)) => {
            values.len() == expected.len()
                && expected
                    .iter()
                    .all(|(name, expected)| values.get(name).is_some_and(|it| same(it, expected)))
        }
        _ => value == expected,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_output_is_compared_by_value() {
        let outputs = json!({"sum": [3.0], "all": [1, 2], "row": [{"a": 1.0}], "none": []});
        let outputs = outputs.as_object().expect("an object");
        for (name, expected, is_same) in [
            ("sum", json!(3), true),
            ("sum", json!([3]), true),
            ("sum", json!("3"), false),
            ("sum", json!(3.1), false),
            ("all", json!([1, 2]), true),
            ("all", json!([2, 1]), false),
            ("all", json!(1), false),
            ("row", json!({"a": 1}), true),
            ("row", json!({}), false),
            ("none", json!([]), true),
            ("lost", json!(null), false),
        ] {
            let rehearsal = ExpectedRehearsal {
                inputs: Map::new(),
                pinned: Default::default(),
                outputs: Map::from_iter([(name.to_owned(), expected.clone())]),
            };
            let difference = difference(&rehearsal, outputs);
            assert_eq!(difference.is_none(), is_same, "{name} {expected}: {difference:?}");
        }
    }
}
