//! `CountItemsBlock`: counts the items of a collection.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct CountItemsInput {
    /// The list, dictionary or text to count.
    collection: Value,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "3c9c2f42-b0c3-435f-ba35-05f7a25c772a",
        "CountItemsBlock",
        "Counts the items of a list, the entries of a dictionary or the characters \
         of a text.",
    )
    .categories(&[BlockCategory::Logic])
    .outputs([pin::integer("count", "The count, or -1 if the value is not a collection.")]);
    let count = |collection: Value, count: i64| {
        BlockExample::exactly(json!({ "collection": collection }), vec![("count", json!(count))])
    };
    let examples = vec![
        count(json!([1, 2, 3]), 3),
        count(json!({ "a": 1 }), 1),
        count(json!("héllo"), 5),
        count(json!(7), -1),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: CountItemsInput) -> Result<PinValues, BlockError> {
    let count = match &input.collection {
        Value::Array(items) => Some(items.len()),
        Value::Object(fields) => Some(fields.len()),
        Value::String(text) => Some(text.chars().count()),
        _ => None,
    };
    Ok(vec![("count", count.map_or(json!(-1), Value::from))])
}
