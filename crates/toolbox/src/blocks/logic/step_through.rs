//! Every item of a collection, one after the other.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, outputs};

const MOST_ITEMS: usize = 10_000;
const LONGEST_TEXT: usize = 1024 * 1024;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Input {
    /// A list to go through.
    items: Vec<Value>,
    /// A dictionary to go through.
    items_object: Map<String, Value>,
    /// A list or a dictionary to go through, as JSON text.
    items_str: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "f66a3543-28d3-4ab5-8945-9b336371e2ce",
        name: "StepThroughItemsBlock",
        description: "Goes through a list or a dictionary and gives every item with its place or \
                      its key.",
        categories: &[BlockCategory::Logic],
    };
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
    let spec = about.spec::<Input>(outputs([
        any("item", "The item."),
        any("key", "Its place in the list, or its key in the dictionary."),
    ]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let mut steps = Vec::new();
    through_list(input.items, &mut steps)?;
    through_object(input.items_object, &mut steps)?;
    if input.items_str.len() > LONGEST_TEXT {
        return Err(BlockError::failed(format!("The text is longer than {LONGEST_TEXT} bytes.")));
    }
    if !input.items_str.is_empty() {
        let wrong = |error| BlockError::failed(format!("The text is no JSON: {error}."));
        match serde_json::from_str(&input.items_str).map_err(wrong)? {
            Value::Array(items) => through_list(items, &mut steps)?,
            Value::Object(fields) => through_object(fields, &mut steps)?,
            _ => return Err(BlockError::failed("The text is neither a list nor a dictionary.")),
        }
    }
    Ok(steps)
}

fn through_list(items: Vec<Value>, steps: &mut Outputs) -> Result<(), BlockError> {
    few_enough(items.len())?;
    steps.reserve(2 * items.len());
    for (place, item) in items.into_iter().enumerate() {
        steps.push(("item", item));
        steps.push(("key", place.into()));
    }
    Ok(())
}

fn through_object(fields: Map<String, Value>, steps: &mut Outputs) -> Result<(), BlockError> {
    few_enough(fields.len())?;
    for (key, item) in fields {
        steps.push(("item", item));
        steps.push(("key", key.into()));
    }
    Ok(())
}

fn few_enough(items: usize) -> Result<(), BlockError> {
    if items <= MOST_ITEMS {
        return Ok(());
    }
    Err(BlockError::failed(format!(
        "There are {items} items; at most {MOST_ITEMS} can be gone through."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_can_be_gone_through_is_refused() {
        let many = |count| Input { items: vec![Value::Null; count], ..Input::default() };
        assert_eq!(run(many(MOST_ITEMS)).map(|steps| steps.len()), Ok(2 * MOST_ITEMS));
        assert!(run(many(MOST_ITEMS + 1)).is_err());
        let texts = ["nothing".to_owned(), "1".to_owned(), " ".repeat(LONGEST_TEXT + 1)];
        for items_str in texts {
            assert!(run(Input { items_str, ..Input::default() }).is_err());
        }
    }
}
