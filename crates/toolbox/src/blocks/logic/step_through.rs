//! `StepThroughItemsBlock`: emits the items of a collection one by one.

use crate::blocks::prelude::*;

const MAX_ITEMS: usize = 10_000;
const MAX_TEXT_BYTES: usize = 1024 * 1024;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct StepThroughInput {
    /// The list to iterate over.
    items: Vec<Value>,
    /// The dictionary to iterate over.
    items_object: Map<String, Value>,
    /// A list or dictionary to iterate over, as JSON text.
    items_str: String,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "f66a3543-28d3-4ab5-8945-9b336371e2ce",
        "StepThroughItemsBlock",
        "Iterates over a list or dictionary and outputs each item with its index or key.",
    )
    .categories(&[BlockCategory::Logic])
    .outputs([
        pin::any("item", "The current item."),
        pin::any("key", "The item's index in the list, or its key in the dictionary."),
    ]);
    let steps = |input: Value, steps: &[(Value, Value)]| {
        let pair = |(item, key): &(Value, Value)| [("item", item.clone()), ("key", key.clone())];
        BlockExample::exactly(input, steps.iter().flat_map(pair).collect())
    };
    let examples = vec![
        steps(
            json!({ "items": ["a", { "b": 1 }] }),
            &[(json!("a"), json!(0)), (json!({ "b": 1 }), json!(1))],
        ),
        steps(json!({ "items_object": { "x": 1 } }), &[(json!(1), json!("x"))]),
        steps(json!({ "items_str": "[true]" }), &[(json!(true), json!(0))]),
        steps(json!({}), &[]),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: StepThroughInput) -> Result<PinValues, BlockError> {
    let mut steps = Vec::new();
    push_list(input.items, &mut steps)?;
    push_object(input.items_object, &mut steps)?;
    if input.items_str.len() > MAX_TEXT_BYTES {
        return Err(BlockError::failed(format!(
            "The text is longer than the limit of {MAX_TEXT_BYTES} bytes."
        )));
    }
    if !input.items_str.is_empty() {
        let wrong = |error| BlockError::failed(format!("The text is not valid JSON: {error}."));
        match serde_json::from_str(&input.items_str).map_err(wrong)? {
            Value::Array(items) => push_list(items, &mut steps)?,
            Value::Object(fields) => push_object(fields, &mut steps)?,
            _ => return Err(BlockError::failed("The JSON text must be a list or a dictionary.")),
        }
    }
    Ok(steps)
}

fn push_list(items: Vec<Value>, steps: &mut PinValues) -> Result<(), BlockError> {
    check_item_count(items.len())?;
    steps.reserve(2 * items.len());
    for (index, item) in items.into_iter().enumerate() {
        steps.push(("item", item));
        steps.push(("key", index.into()));
    }
    Ok(())
}

fn push_object(fields: Map<String, Value>, steps: &mut PinValues) -> Result<(), BlockError> {
    check_item_count(fields.len())?;
    for (key, item) in fields {
        steps.push(("item", item));
        steps.push(("key", key.into()));
    }
    Ok(())
}

fn check_item_count(items: usize) -> Result<(), BlockError> {
    if items <= MAX_ITEMS {
        return Ok(());
    }
    Err(BlockError::failed(format!("Too many items: {items}. The limit is {MAX_ITEMS}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_items_and_invalid_text_are_rejected() {
        let many = |count| StepThroughInput {
            items: vec![Value::Null; count],
            ..StepThroughInput::default()
        };
        assert_eq!(run(many(MAX_ITEMS)).map(|steps| steps.len()), Ok(2 * MAX_ITEMS));
        assert!(run(many(MAX_ITEMS + 1)).is_err());
        let texts = ["nothing".to_owned(), "1".to_owned(), " ".repeat(MAX_TEXT_BYTES + 1)];
        for items_str in texts {
            assert!(run(StepThroughInput { items_str, ..StepThroughInput::default() }).is_err());
        }
    }
}
