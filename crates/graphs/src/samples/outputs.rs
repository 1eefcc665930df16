//! The outputs of a block whose answer is made up: those of a success, unless another one is asked for.

use protocol::block::BlockSpec;
use serde_json::{Map, Value, json};

use super::{PinSchemas, pick, sample};

/// The outputs of blocks that answer yes or no: one of them gets a value.
pub const BRANCHES: [&str; 2] = ["yes_output", "no_output"];
/// Which of them it was.
const BRANCH_RESULT: &str = "result";

/// Whether an output only has a value when something went wrong.
pub fn is_error_pin(pin: &str) -> bool {
    pin == "error" || pin.ends_with("_error")
}

/// A value for every output of the block that it fills when it succeeds. `branch` is the output for errors that is filled
/// instead, or the branch that is taken. `schemas` says more about single outputs than the block does.
pub fn outputs(
    spec: &BlockSpec,
    schemas: Option<&PinSchemas>,
    seed: u64,
    branch: Option<&str>,
) -> Map<String, Value> {
    let made = |pin: &str, schema: &Value| {
        let schema = schemas.and_then(|schemas| schemas.get(pin)).unwrap_or(schema);
        sample(schema, pin, seed)
    };
    if let Some((pin, schema)) =
        branch.filter(|pin| is_error_pin(pin)).and_then(|pin| Some((pin, spec.output(pin)?)))
    {
        return Map::from_iter([(pin.to_owned(), made(pin, schema))]);
    }
    let pins = spec.outputs.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut outputs: Map<String, Value> = pins
        .filter(|(pin, _)| !is_error_pin(pin))
        .map(|(pin, schema)| (pin.clone(), made(pin, schema)))
        .collect();
    if BRANCHES.iter().all(|pin| outputs.contains_key(*pin)) {
        let chosen = branch.and_then(|branch| BRANCHES.iter().position(|pin| *pin == branch));
        let chosen = chosen.unwrap_or_else(|| pick(seed, spec.name, BRANCHES.len()));
        outputs.shift_remove(BRANCHES[1 - chosen]);
        if let Some(result) = outputs.get_mut(BRANCH_RESULT) {
            *result = json!(chosen == 0);
        }
    }
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_fills_no_output_for_errors_and_one_of_two_branches() {
        let text = || json!({"type": "string"});
        let request = BlockSpec::new("r", "Request", "").outputs([
            ("response", json!({})),
            ("client_error", json!({})),
            ("server_error", json!({})),
        ]);
        let condition = BlockSpec::new("c", "Condition", "").outputs([
            ("result", json!({"type": "boolean"})),
            ("yes_output", text()),
            ("no_output", text()),
        ]);
        let pins = |spec: &BlockSpec, branch| -> Vec<String> {
            outputs(spec, None, 0, branch).keys().cloned().collect()
        };
        assert_eq!(pins(&request, None), ["response"]);
        assert_eq!(pins(&request, Some("client_error")), ["client_error"]);
        assert_eq!(pins(&condition, Some("yes_output")), ["result", "yes_output"]);
        assert_eq!(pins(&condition, Some("no_output")), ["result", "no_output"]);
        assert_eq!(outputs(&condition, None, 0, Some("no_output"))["result"], false);
        for seed in 0..20 {
            let made = outputs(&condition, None, seed, None);
            assert_eq!(made.len(), 2, "{made:?}");
            assert_eq!(made["result"] == true, made.contains_key("yes_output"));
        }
    }
}
