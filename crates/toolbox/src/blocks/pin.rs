//! Output pins of a spec: the name with the JSON schema of its values.

use serde_json::{Value, json};

type Pin<'a> = (&'a str, Value);

/// A pin of any type.
pub(crate) fn any<'a>(pin: &'a str, description: &str) -> Pin<'a> {
    (pin, json!({ "description": description }))
}

pub(crate) fn text<'a>(pin: &'a str, description: &str) -> Pin<'a> {
    simple(pin, "string", description)
}

pub(crate) fn number<'a>(pin: &'a str, description: &str) -> Pin<'a> {
    simple(pin, "number", description)
}

pub(crate) fn integer<'a>(pin: &'a str, description: &str) -> Pin<'a> {
    simple(pin, "integer", description)
}

pub(crate) fn boolean<'a>(pin: &'a str, description: &str) -> Pin<'a> {
    simple(pin, "boolean", description)
}

pub(crate) fn list<'a>(pin: &'a str, description: &str) -> Pin<'a> {
    (pin, json!({ "type": "array", "items": {}, "description": description }))
}

pub(crate) fn object<'a>(pin: &'a str, description: &str) -> Pin<'a> {
    (pin, json!({ "type": "object", "additionalProperties": true, "description": description }))
}

fn simple<'a>(pin: &'a str, kind: &str, description: &str) -> Pin<'a> {
    (pin, json!({ "type": kind, "description": description }))
}
