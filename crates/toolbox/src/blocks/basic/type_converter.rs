//! `UniversalTypeConverterBlock`: converts a value between JSON types.

use crate::blocks::prelude::*;
use crate::values::{into_text, is_true};

#[derive(Deserialize, JsonSchema)]
struct ConvertTypeInput {
    /// The value to convert.
    value: Value,
    /// The type to convert it to.
    r#type: TargetType,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TargetType {
    String,
    Number,
    Boolean,
    List,
    Dictionary,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "95d1b990-ce13-4d88-9737-ba5c2070c97b",
        "UniversalTypeConverterBlock",
        "Converts a value to text, a number, a boolean, a list or a dictionary.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::any("value", "The converted value.")]);
    let example = |value: Value, kind: &str, converted: Value| {
        BlockExample::exactly(json!({ "value": value, "type": kind }), vec![("value", converted)])
    };
    let examples = vec![
        example(json!({ "a": 1 }), "string", json!("{\"a\":1}")),
        example(json!("text"), "string", json!("text")),
        example(json!(" 4.5 "), "number", json!(4.5)),
        example(json!([1, 2]), "number", json!(2.0)),
        example(json!("many"), "number", json!(0.0)),
        example(json!("True"), "boolean", json!(true)),
        example(json!("yes"), "boolean", json!(false)),
        example(json!(3), "boolean", json!(true)),
        example(json!("[1, 2]"), "list", json!([1, 2])),
        example(json!("one"), "list", json!(["one"])),
        example(json!({ "a": 1 }), "list", json!([["a", 1]])),
        example(json!("{\"a\": 1}"), "dictionary", json!({ "a": 1 })),
        example(json!("one"), "dictionary", json!({ "value": "one" })),
        example(json!(["x"]), "dictionary", json!({ "0": "x" })),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: ConvertTypeInput) -> Result<PinValues, BlockError> {
    let value = match input.r#type {
        TargetType::String => Value::String(into_text(input.value)),
        TargetType::Number => json!(number(&input.value)),
        TargetType::Boolean => json!(boolean(&input.value)),
        TargetType::List => list(input.value),
        TargetType::Dictionary => dictionary(input.value),
    };
    Ok(vec![("value", value)])
}

/// A collection becomes its length; anything that cannot be read as a number becomes 0.
fn number(value: &Value) -> f64 {
    match value {
        Value::Array(items) => items.len() as f64,
        Value::Object(fields) => fields.len() as f64,
        Value::String(text) => {
            text.trim().parse().ok().filter(|n: &f64| n.is_finite()).unwrap_or(0.0)
        }
        Value::Bool(yes) => f64::from(u8::from(*yes)),
        Value::Number(number) => number.as_f64().unwrap_or(0.0),
        Value::Null => 0.0,
    }
}

/// A text is true only if it is `true` (in any case) or `1`.
fn boolean(value: &Value) -> bool {
    match value {
        Value::String(text) => text == "1" || text.eq_ignore_ascii_case("true"),
        other => is_true(other),
    }
}

fn list(value: Value) -> Value {
    match value {
        Value::Array(_) => value,
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| json!([key, value])).collect()
        }
        Value::String(text) => match serde_json::from_str(text.trim()) {
            Ok(Value::Array(items)) => Value::Array(items),
            _ => json!([text.trim()]),
        },
        other => json!([other]),
    }
}

fn dictionary(value: Value) -> Value {
    match value {
        Value::Object(_) => value,
        Value::Array(items) => {
            let numbered = |(index, item): (usize, Value)| (index.to_string(), item);
            Value::Object(items.into_iter().enumerate().map(numbered).collect::<Map<_, _>>())
        }
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(fields)) => Value::Object(fields),
            Ok(other) => json!({ "value": other }),
            Err(_) => json!({ "value": text }),
        },
        other => json!({ "value": other }),
    }
}
