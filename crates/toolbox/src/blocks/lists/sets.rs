//! `ListDifferenceBlock` and `ListIntersectionBlock`: set operations on two lists.

use std::collections::HashSet;

use crate::blocks::comparison::key;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct ListDifferenceInput {
    /// The list to filter.
    list_a: Vec<Value>,
    /// The items to exclude.
    list_b: Vec<Value>,
    /// Also include the items of the second list that are not in the first.
    #[serde(default)]
    symmetric: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    vec![difference(), intersection()]
}

fn difference() -> Arc<dyn Block> {
    let spec = BlockSpec::new(
        "05309873-9d61-447e-96b5-b804e2511829",
        "ListDifferenceBlock",
        "Returns the items of one list that are not in another.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::list("difference", "The remaining items."),
        pin::integer("length", "The number of items."),
    ]);
    let rest = |input: Value, list: Value, length: usize| {
        BlockExample::exactly(input, vec![("difference", list), ("length", json!(length))])
    };
    let examples = vec![
        rest(json!({ "list_a": [1, 2, 3, 2], "list_b": [3, 4] }), json!([1, 2, 2]), 3),
        rest(
            json!({ "list_a": [1, 2], "list_b": [2, { "a": 1 }], "symmetric": true }),
            json!([1, { "a": 1 }]),
            2,
        ),
    ];
    block(spec, examples, Pure(run_difference))
}

fn run_difference(input: ListDifferenceInput) -> Result<PinValues, BlockError> {
    let (mut first, mut second) = (input.list_a, input.list_b);
    let in_first = if input.symmetric { keys(&first) } else { HashSet::new() };
    let in_second = keys(&second);
    first.retain(|item| !in_second.contains(&key(item)));
    if input.symmetric {
        second.retain(|item| !in_first.contains(&key(item)));
        first.append(&mut second);
    }
    let length = first.len();
    Ok(vec![("difference", first.into()), ("length", length.into())])
}

#[derive(Deserialize, JsonSchema)]
struct ListIntersectionInput {
    /// The first list. Its order is kept.
    list_a: Vec<Value>,
    /// The second list.
    list_b: Vec<Value>,
}

fn intersection() -> Arc<dyn Block> {
    let spec = BlockSpec::new(
        "b6eb08b6-dbe3-411b-b9b4-2508cb311a1f",
        "ListIntersectionBlock",
        "Returns the items that are in both lists, without duplicates.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::list("intersection", "The items in both lists."),
        pin::integer("length", "The number of items."),
    ]);
    let example = BlockExample::exactly(
        json!({ "list_a": [3, 1, 3, "x"], "list_b": ["x", 3.0] }),
        vec![("intersection", json!([3, "x"])), ("length", json!(2))],
    );
    block(spec, vec![example], Pure(run_intersection))
}

fn run_intersection(input: ListIntersectionInput) -> Result<PinValues, BlockError> {
    let mut common = input.list_a;
    let mut remaining = keys(&input.list_b);
    common.retain(|item| remaining.remove(&key(item)));
    let length = common.len();
    Ok(vec![("intersection", common.into()), ("length", length.into())])
}

fn keys(items: &[Value]) -> HashSet<String> {
    items.iter().map(key).collect()
}
