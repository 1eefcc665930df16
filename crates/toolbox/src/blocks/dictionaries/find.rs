//! Looking something up by its key or its place.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Key;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// A dictionary, a list, or either as JSON text.
    input: Value,
    /// The key in a dictionary, the place in a list, or the key to collect from a list of dictionaries.
    key: Key,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "0e50422c-6dee-4145-83d6-3a5a392f65de",
        name: "FindInDictionaryBlock",
        description: "Looks a value up in a dictionary by its key, or in a list by its place.",
        categories: &[BlockCategory::Basic],
    };
    let found = |input: Value, key: Value, pin, value: Value| {
        BlockExample::exactly(json!({ "input": input, "key": key }), vec![(pin, value)])
    };
    let examples = vec![
        found(json!({ "a": 1, "b": 2 }), json!("b"), "output", json!(2)),
        found(json!({ "a": 1 }), json!("z"), "missing", json!({ "a": 1 })),
        found(json!({ "7": "seven" }), json!(7), "output", json!("seven")),
        found(json!([1, 2]), json!(1), "output", json!(2)),
        found(json!([1, 2]), json!(2), "missing", json!([1, 2])),
        found(json!([{ "k": 1 }, { "x": 2 }, { "k": 3 }]), json!("k"), "output", json!([1, 3])),
        found(json!("{\"a\": null}"), json!("a"), "output", json!(null)),
        found(json!(5), json!("a"), "missing", json!(5)),
    ];
    let spec = about.spec::<Input>(outputs([
        any("output", "What was found."),
        any("missing", "The input, when there is nothing under the key."),
    ]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let Input { input: given, key } = input;
    let output = match &given {
        Value::String(text) => {
            let wrong = |error| BlockError::failed(format!("The text is no JSON: {error}."));
            let parsed = serde_json::from_str(text).map_err(wrong)?;
            find(parsed, &key).map_or(("missing", given), |found| ("output", found))
        }
        _ => match find(given, &key) {
            Ok(found) => ("output", found),
            Err(given) => ("missing", given),
        },
    };
    Ok(vec![output])
}

/// The value under the key, or all of the input again.
fn find(mut input: Value, key: &Key) -> Result<Value, Value> {
    let found = match (&mut input, key) {
        (Value::Object(fields), Key::Name(name)) => fields.get_mut(name).map(Value::take),
        (Value::Object(fields), Key::Place(place)) => {
            fields.get_mut(&place.to_string()).map(Value::take)
        }
        (Value::Array(items), Key::Place(place)) => {
            usize::try_from(*place).ok().and_then(|place| items.get_mut(place)).map(Value::take)
        }
        (Value::Array(items), Key::Name(name)) => {
            Some(items.iter_mut().filter_map(|item| item.get_mut(name)).map(Value::take).collect())
        }
        _ => None,
    };
    found.ok_or(input)
}
