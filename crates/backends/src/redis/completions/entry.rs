//! Entries of the completions stream.

use redis::Value;
use serde_json::Map;
use serde_json::Value as Json;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompletionEntry {
    pub(crate) id: String,
    /// JSON, if the sender kept to the format.
    pub(crate) body: String,
}

/// The only field of entries that we write.
pub(crate) const DATA: &str = "data";
/// Fields that entries of other programs may have instead.
const FIELDS: [&str; 5] = ["operation_id", "task_id", "success", "result", "error"];

/// `[id, [name, value, …]]`
pub(crate) fn entry(value: Value) -> Option<CompletionEntry> {
    let Value::Array(parts) = value else { return None };
    let [Value::BulkString(id), Value::Array(fields)] = <[Value; 2]>::try_from(parts).ok()? else {
        return None;
    };
    let mut named = Vec::new();
    let mut fields = fields.into_iter();
    while let (Some(Value::BulkString(name)), Some(Value::BulkString(value))) =
        (fields.next(), fields.next())
    {
        named.push((text(name), text(value)));
    }
    Some(CompletionEntry { id: text(id), body: body(named) })
}

/// The first entry of an `XREADGROUP` reply for one stream: a map, or pairs in an older version of the protocol.
pub(crate) fn first_read(answer: Value) -> Option<CompletionEntry> {
    let entries = match answer {
        Value::Map(streams) => streams.into_iter().next()?.1,
        Value::Array(streams) => match streams.into_iter().next()? {
            Value::Array(pair) => pair.into_iter().nth(1)?,
            _ => return None,
        },
        _ => return None,
    };
    let Value::Array(entries) = entries else { return None };
    entries.into_iter().next().and_then(entry)
}

fn body(fields: Vec<(String, String)>) -> String {
    let mut object = Map::new();
    for (name, value) in fields {
        if name == DATA {
            return value;
        }
        // Redis has only strings, and an empty one means a missing value.
        if FIELDS.contains(&name.as_str()) && !value.is_empty() {
            object.insert(name.clone(), typed(&name, value));
        }
    }
    Json::Object(object).to_string()
}

fn typed(name: &str, value: String) -> Json {
    match (name, value.to_ascii_lowercase().as_str()) {
        ("success", "true" | "1") => Json::Bool(true),
        ("success", "false" | "0") => Json::Bool(false),
        ("result", _) => serde_json::from_str(&value).unwrap_or(Json::String(value)),
        _ => Json::String(value),
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    fn body_of(fields: &[&str]) -> String {
        let fields = fields.iter().map(|field| bulk(field)).collect();
        let entry = entry(Value::Array(vec![bulk("1-0"), Value::Array(fields)]));
        entry.expect("an entry").body
    }

    #[test]
    fn the_data_field_is_the_unchanged_body() {
        assert_eq!(body_of(&["data", "{\"a\": 1}"]), "{\"a\": 1}");
        assert_eq!(body_of(&["operation_id", "o", "data", "not json"]), "not json");
    }

    #[test]
    fn separate_fields_become_the_same_body() {
        let table: [(&[&str], Json); 4] = [
            (
                &["operation_id", "o", "task_id", "12", "success", "True", "result", "{\"n\":1}"],
                json!({"operation_id": "o", "task_id": "12", "success": true, "result": {"n": 1}}),
            ),
            (
                &["operation_id", "o", "success", "0", "result", "", "error", "1"],
                json!({"operation_id": "o", "success": false, "error": "1"}),
            ),
            (&["result", "plain words"], json!({"result": "plain words"})),
            (&["else", "x"], json!({})),
        ];
        for (fields, expected) in table {
            let body: Json = serde_json::from_str(&body_of(fields)).expect("JSON");
            assert_eq!(body, expected);
        }
    }

    #[test]
    fn both_protocol_versions_are_read() {
        let fields = Value::Array(vec![bulk("data"), bulk("x")]);
        let entries = Value::Array(vec![Value::Array(vec![bulk("7-0"), fields])]);
        let map = Value::Map(vec![(bulk("stream"), entries.clone())]);
        let pairs = Value::Array(vec![Value::Array(vec![bulk("stream"), entries])]);
        for answer in [map, pairs] {
            let read = first_read(answer).expect("an entry");
            assert_eq!((read.id.as_str(), read.body.as_str()), ("7-0", "x"));
        }
        assert_eq!(first_read(Value::Nil), None);
    }
}
