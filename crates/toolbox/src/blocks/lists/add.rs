//! `AddToListBlock`: inserts items into a list.

use crate::blocks::prelude::*;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct AddToListInput {
    /// The list to add to. If empty, a new list is created.
    list: Vec<Value>,
    /// The item to add.
    entry: Value,
    /// More items to add, before `entry`.
    entries: Vec<Value>,
    /// The index to insert at. Negative values count from the end; if not set, items are appended.
    position: Option<i64>,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "aeb08fc1-2fc1-4141-bc8e-f758f183a822",
        "AddToListBlock",
        "Adds one or more items to a list, at the end or at a given index.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([pin::list("updated_list", "The list with the items added.")]);
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: AddToListInput) -> Result<PinValues, BlockError> {
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
