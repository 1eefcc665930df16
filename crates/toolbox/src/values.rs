//! Conversions of JSON values: to a boolean, to text, to a list index.

use serde_json::Value;

/// Whether a value is truthy: not null, not false, not zero, not empty.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Strings unchanged; everything else as JSON.
pub(crate) fn into_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Resolves an index into a list of this length; negative indices count from the end.
pub(crate) fn place(index: i64, length: usize) -> Option<usize> {
    let from_end = if index < 0 { i64::try_from(length).ok()? } else { 0 };
    usize::try_from(index.checked_add(from_end)?).ok().filter(|place| *place < length)
}
