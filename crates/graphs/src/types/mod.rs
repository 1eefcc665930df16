//! The types of pins: which JSON types a schema accepts, and how a value is converted to one of them before a node
//! runs.
//!
//! The conversions follow the original project as long as nothing is lost or invented: a text that is not a number does
//! not become 0, and a list does not become its length.

mod misfit;
mod type_set;

use protocol::block::BlockSpec;
use serde_json::{Map, Number, Value, json};

pub use misfit::{Misfit, misfit};
pub use type_set::TypeSet;

/// Converts each input to the schema of its pin. Blank values are dropped, and so are names that the block does not
/// have.
pub fn convert_inputs(
    inputs: Map<String, Value>,
    spec: &BlockSpec,
) -> Result<Map<String, Value>, String> {
    let mut converted = Map::new();
    for (pin, value) in inputs {
        let Some(schema) = spec.input(&pin) else {
            if spec.takes_any_input() {
                converted.insert(pin, value);
            }
            continue;
        };
        if is_blank(&value, schema) {
            continue;
        }
        let value = convert(value, schema).map_err(|why| format!("`{pin}`: {why}"))?;
        converted.insert(pin, value);
    }
    Ok(converted)
}

/// Whether the value is blank: null, or the empty text of a form field, where the pin accepts neither.
pub fn is_blank(value: &Value, schema: &Value) -> bool {
    let nothing = value.is_null() || value.as_str().is_some_and(str::is_empty);
    nothing && !TypeSet::of(schema).intersects(TypeSet::of_value(value))
}

/// Converts the value to the schema, including its items and members. `Err` says why it cannot be converted.
pub fn convert(value: Value, schema: &Value) -> Result<Value, String> {
    let wanted = TypeSet::of(schema);
    let value = if wanted.intersects(TypeSet::of_value(&value)) {
        value
    } else {
        convert_type(value, wanted)?
    };
    match value {
        Value::Array(items) => match schema.get("items") {
            Some(of_items) => items
                .into_iter()
                .enumerate()
                .map(|(index, item)| {
                    convert(item, of_items).map_err(|why| format!("item {index}: {why}"))
                })
                .collect(),
            None => Ok(Value::Array(items)),
        },
        Value::Object(members) => members
            .into_iter()
            .map(|(key, member)| match member_schema(schema, &key) {
                Some(of_member) => {
                    let converted = convert(member, of_member);
                    converted.map_err(|why| format!("`{key}`: {why}")).map(|member| (key, member))
                }
                None => Ok((key, member)),
            })
            .collect(),
        other => Ok(other),
    }
}

/// The schema of one member of an object; `None` if there is none.
pub fn member_schema<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let named = schema.get("properties").and_then(|members| members.get(key));
    named.or_else(|| schema.get("additionalProperties").filter(|more| more.is_object()))
}

fn convert_type(value: Value, wanted: TypeSet) -> Result<Value, String> {
    let converted = match wanted.only() {
        _ if value.is_null() => None,
        Some(TypeSet::TEXT) => Some(Value::String(value.to_string())),
        Some(TypeSet::NUMBER) => number(&value).map(Value::Number),
        Some(TypeSet::INTEGER) => integer(&value).map(Value::from),
        Some(TypeSet::BOOLEAN) => boolean(&value).map(Value::from),
        Some(TypeSet::LIST) => Some(list(value.clone())),
        Some(TypeSet::OBJECT) => Some(object(value.clone())),
        // With several possible types, only text that parses as one of them is accepted.
        _ => parse_json(&value).filter(|read| wanted.intersects(TypeSet::of_value(read))),
    };
    let kind = TypeSet::of_value(&value);
    converted.ok_or_else(|| match value {
        Value::String(_) => format!("expected {wanted}, but this text is something else"),
        _ => format!("expected {wanted}, but this is {kind}"),
    })
}

fn parse_json(value: &Value) -> Option<Value> {
    serde_json::from_str(value.as_str()?).ok()
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            let whole = text.parse::<i64>().ok().map(Number::from);
            whole.or_else(|| text.parse().ok().and_then(Number::from_f64))
        }
        Value::Bool(truth) => Some(Number::from(u8::from(*truth))),
        _ => None,
    }
}

/// Drops the fraction.
fn integer(value: &Value) -> Option<i64> {
    /// Above this, a floating point number no longer identifies one integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = match value {
        Value::Number(number) => number.clone(),
        other => number(other)?,
    };
    number.as_i64().or_else(|| {
        let cut = number.as_f64()?.trunc();
        #[expect(clippy::cast_possible_truncation, reason = "its size and its fraction are known")]
        (cut.abs() <= EXACT).then_some(cut as i64)
    })
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" | "" => Some(false),
            _ => None,
        },
        Value::Number(number) => number.as_f64().map(|number| number != 0.0),
        _ => None,
    }
}

/// Text that contains a JSON list becomes that list; an object becomes a list of pairs; anything else becomes the only
/// item.
fn list(value: Value) -> Value {
    match value {
        Value::String(_) => match parse_json(&value) {
            Some(Value::Array(items)) => Value::Array(items),
            _ => json!([value]),
        },
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| json!([key, value])).collect()
        }
        other => json!([other]),
    }
}

/// Text that contains a JSON object becomes that object; list items get their indexes as keys; anything else becomes
/// the member `value`.
fn object(value: Value) -> Value {
    match value {
        Value::String(_) => match parse_json(&value) {
            Some(Value::Object(members)) => Value::Object(members),
            Some(other) => json!({ "value": other }),
            None => json!({ "value": value }),
        },
        Value::Array(items) => {
            let keyed = items.into_iter().enumerate();
            keyed.map(|(index, item)| (index.to_string(), item)).collect()
        }
        other => json!({ "value": other }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_to_the_schema() {
        let text = json!({"type": "string"});
        let number = json!({"type": "number"});
        let integer = json!({"type": ["integer", "null"]});
        let boolean = json!({"type": "boolean"});
        let list = json!({"type": "array", "items": {"type": "number"}});
        let object = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let table = [
            (json!(5), &text, Some(json!("5"))),
            (json!([1, "a"]), &text, Some(json!("[1,\"a\"]"))),
            (json!(null), &text, None),
            (json!(" 2.5 "), &number, Some(json!(2.5))),
            (json!("12"), &number, Some(json!(12))),
            (json!("twelve"), &number, None),
            (json!(true), &number, Some(json!(1))),
            (json!([1, 2]), &number, None),
            (json!("NaN"), &number, None),
            (json!("3.9"), &integer, Some(json!(3))),
            (json!(3.0), &integer, Some(json!(3))),
            (json!(1e300), &integer, None),
            (json!(null), &integer, Some(json!(null))),
            (json!("TRUE"), &boolean, Some(json!(true))),
            (json!("0"), &boolean, Some(json!(false))),
            (json!("maybe"), &boolean, None),
            (json!(2), &boolean, Some(json!(true))),
            (json!("[1, \"2\"]"), &list, Some(json!([1, 2]))),
            (json!("7"), &list, Some(json!([7]))),
            (json!("x"), &list, None),
            (json!({"a": 1}), &object, Some(json!({"a": "1"}))),
            (json!("{\"a\": 1}"), &object, Some(json!({"a": "1"}))),
            (json!("plain"), &object, Some(json!({"value": "plain"}))),
            (json!([true]), &object, Some(json!({"0": "true"}))),
        ];
        for (value, schema, expected) in table {
            let converted = convert(value.clone(), schema);
            assert_eq!(converted.clone().ok(), expected, "{value} to {schema}: {converted:?}");
        }
    }

    #[test]
    fn matching_values_are_unchanged() {
        let any = json!({"description": "whatever"});
        let union = json!({"anyOf": [{"type": "array"}, {"type": "object"}]});
        for value in [json!(null), json!("12"), json!([1, {"a": null}])] {
            assert_eq!(convert(value.clone(), &any), Ok(value));
        }
        assert_eq!(convert(json!({"a": 1}), &union), Ok(json!({"a": 1})));
        assert_eq!(
            convert(json!("[1]"), &union),
            Ok(json!([1])),
            "text that parses as one of the types"
        );
        assert!(convert(json!("[1"), &union).is_err());
    }

    #[test]
    fn an_error_says_where_and_why() {
        let schema = json!({"type": "array", "items": {"properties": {"n": {"type": "integer"}}}});
        let refused = convert(json!([{"n": 1}, {"n": [2]}]), &schema);
        let why = "item 1: `n`: expected a whole number, but this is a list";
        assert_eq!(refused, Err(why.to_owned()));
    }
}
