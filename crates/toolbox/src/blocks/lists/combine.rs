//! `ConcatenateListsBlock` and `InterleaveListsBlock`: merge several lists into one.

use super::inner_lists;
use crate::blocks::comparison::key;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct ConcatenateListsInput {
    /// The lists to join, in order.
    #[schemars(with = "Vec<Option<Vec<Value>>>")]
    lists: Vec<Value>,
    /// Remove duplicate items, keeping the first.
    #[serde(default)]
    deduplicate: bool,
    /// Remove empty (null) items.
    #[serde(default)]
    remove_none: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    vec![concatenate(), interleave()]
}

fn concatenate() -> Arc<dyn Block> {
    let spec = BlockSpec::new(
        "3cf9298b-5817-4141-9d80-7c2cc5199c8e",
        "ConcatenateListsBlock",
        "Joins several lists into one, optionally without duplicates.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::list("concatenated_list", "The joined list."),
        pin::integer("length", "The number of items."),
    ]);
    let joined = |input: Value, list: Value, length: usize| {
        BlockExample::exactly(input, vec![("concatenated_list", list), ("length", json!(length))])
    };
    let examples = vec![
        joined(json!({ "lists": [[1, 2], ["c"]] }), json!([1, 2, "c"]), 3),
        joined(json!({ "lists": [] }), json!([]), 0),
        joined(
            json!({ "lists": [[1, true, 1.0], [{ "a": [] }, { "a": [] }]], "deduplicate": true }),
            json!([1, true, { "a": [] }]),
            3,
        ),
        joined(json!({ "lists": [[1, null], null, [2]], "remove_none": true }), json!([1, 2]), 2),
    ];
    block(spec, examples, Pure(run_concatenate))
}

fn run_concatenate(input: ConcatenateListsInput) -> Result<PinValues, BlockError> {
    let mut list: Vec<Value> = inner_lists(input.lists)?.into_iter().flatten().collect();
    if input.remove_none {
        list.retain(|item| !item.is_null());
    }
    if input.deduplicate {
        let mut seen = std::collections::HashSet::new();
        list.retain(|item| seen.insert(key(item)));
    }
    let length = list.len();
    Ok(vec![("concatenated_list", list.into()), ("length", length.into())])
}

#[derive(Deserialize, JsonSchema)]
struct InterleaveListsInput {
    /// The lists to interleave.
    #[schemars(with = "Vec<Option<Vec<Value>>>")]
    lists: Vec<Value>,
}

fn interleave() -> Arc<dyn Block> {
    let spec = BlockSpec::new(
        "9f616084-1d9f-4f8e-bc00-5b9d2a75cd75",
        "InterleaveListsBlock",
        "Interleaves several lists: the first item of each, then the second of each, \
         and so on.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::list("interleaved_list", "The items of all lists, alternating."),
        pin::integer("length", "The number of items."),
    ]);
    let example = BlockExample::exactly(
        json!({ "lists": [[1, 2, 3], ["a"], ["x", "y"]] }),
        vec![("interleaved_list", json!([1, "a", "x", 2, "y", 3])), ("length", json!(6))],
    );
    block(spec, vec![example], Pure(run_interleave))
}

fn run_interleave(input: InterleaveListsInput) -> Result<PinValues, BlockError> {
    let mut remaining: Vec<_> = inner_lists(input.lists)?.into_iter().map(Vec::into_iter).collect();
    let mut interleaved = Vec::new();
    while !remaining.is_empty() {
        // Exhausted lists are dropped, so one long list among many short ones stays linear.
        remaining.retain_mut(|items| match items.next() {
            Some(item) => {
                interleaved.push(item);
                true
            }
            None => false,
        });
    }
    let length = interleaved.len();
    Ok(vec![("interleaved_list", interleaved.into()), ("length", length.into())])
}
