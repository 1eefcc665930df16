//! `FindInDictionaryBlock`: looks a value up by key or index.

use super::EntryKey;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct FindInDictionaryInput {
    /// The dictionary or list to search, or either as JSON text.
    input: Value,
    /// The key in a dictionary, the index in a list, or the key to collect from a list of dictionaries.
    key: EntryKey,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "0e50422c-6dee-4145-83d6-3a5a392f65de",
        "FindInDictionaryBlock",
        "Looks up a value in a dictionary by key, or in a list by index.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::any("output", "The value found."),
        pin::any("missing", "The input, if the key was not found."),
    ]);
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: FindInDictionaryInput) -> Result<PinValues, BlockError> {
    let FindInDictionaryInput { input: collection, key } = input;
    let output = match &collection {
        Value::String(text) => {
            let wrong = |error| BlockError::failed(format!("The text is not valid JSON: {error}."));
            let parsed = serde_json::from_str(text).map_err(wrong)?;
            find(parsed, &key).map_or(("missing", collection), |found| ("output", found))
        }
        _ => match find(collection, &key) {
            Ok(found) => ("output", found),
            Err(collection) => ("missing", collection),
        },
    };
    Ok(vec![output])
}

/// The value of the key, or the unchanged input as the error.
fn find(mut input: Value, key: &EntryKey) -> Result<Value, Value> {
    let found = match (&mut input, key) {
        (Value::Object(fields), EntryKey::Name(name)) => fields.get_mut(name).map(Value::take),
        (Value::Object(fields), EntryKey::Index(index)) => {
            fields.get_mut(&index.to_string()).map(Value::take)
        }
        (Value::Array(items), EntryKey::Index(index)) => {
            usize::try_from(*index).ok().and_then(|index| items.get_mut(index)).map(Value::take)
        }
        (Value::Array(items), EntryKey::Name(name)) => {
            Some(items.iter_mut().filter_map(|item| item.get_mut(name)).map(Value::take).collect())
        }
        _ => None,
    };
    found.ok_or(input)
}
