//! Items that are added to a list.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{list, outputs};

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Input {
    /// The list to add to; without one, a new list begins.
    list: Vec<Value>,
    /// An item to add.
    entry: Value,
    /// More items, added before `entry`.
    entries: Vec<Value>,
    /// Where to put them: before the item at this place, counted from the end when negative. Without it: at the end.
    position: Option<i64>,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "aeb08fc1-2fc1-4141-bc8e-f758f183a822",
        name: "AddToListBlock",
        description: "Adds one item or several to a list, at the end or at a place of your choice.",
        categories: &[BlockCategory::Basic],
    };
    let added =
        |input: Value, result: Value| BlockExample::exactly(input, vec![("updated_list", result)]);
    let examples = vec![
        added(json!({ "list": ["a", "b"], "entry": "c" }), json!(["a", "b", "c"])),
        added(json!({ "entry": { "first": 1 } }), json!([{ "first": 1 }])),
        added(
            json!({ "list": [1, 5], "entries": [2, 3], "entry": 4, "position": 1 }),
            json!([1, 2, 3, 4, 5]),
        ),
        added(json!({ "list": [1, 3], "entry": 2, "position": -1 }), json!([1, 2, 3])),
        added(json!({ "list": [1], "entry": 2, "position": 99 }), json!([1, 2])),
    ];
    let spec = about.spec::<Input>(outputs([list("updated_list", "The list with the items.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let (mut list, mut added) = (input.list, input.entries);
    if !input.entry.is_null() {
        added.push(input.entry);
    }
    let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
    let position = match input.position {
        Some(position) if position < 0 => position.saturating_add(length),
        Some(position) => position,
        None => length,
    };
    let at = usize::try_from(position.clamp(0, length)).unwrap_or(0);
    list.splice(at..at, added);
    Ok(vec![("updated_list", list.into())])
}
