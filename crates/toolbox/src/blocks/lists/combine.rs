//! Several lists that become one: one after the other, or in turns.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::inner_lists;
use crate::blocks::comparison::key;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{integer, list, outputs};

#[derive(Deserialize, JsonSchema)]
struct Concatenate {
    /// The lists, in the order in which they follow each other.
    #[schemars(with = "Vec<Option<Vec<Value>>>")]
    lists: Vec<Value>,
    /// Whether to keep only the first of items that are the same.
    #[serde(default)]
    deduplicate: bool,
    /// Whether to leave out items that are nothing.
    #[serde(default)]
    remove_none: bool,
}

pub(super) fn concatenate() -> Arc<dyn Block> {
    let about = About {
        id: "3cf9298b-5817-4141-9d80-7c2cc5199c8e",
        name: "ConcatenateListsBlock",
        description: "Puts several lists one after the other, without repetitions if you like.",
        categories: &[BlockCategory::Basic],
    };
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
    let spec = about.spec::<Concatenate>(outputs([
        list("concatenated_list", "The items of all lists."),
        integer("length", "How many items that are."),
    ]));
    pure(spec, run_concatenate, examples)
}

fn run_concatenate(input: Concatenate) -> Result<Outputs, BlockError> {
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
struct Interleave {
    /// The lists that take turns.
    #[schemars(with = "Vec<Option<Vec<Value>>>")]
    lists: Vec<Value>,
}

pub(super) fn interleave() -> Arc<dyn Block> {
    let about = About {
        id: "9f616084-1d9f-4f8e-bc00-5b9d2a75cd75",
        name: "InterleaveListsBlock",
        description: "Mixes several lists: the first item of each, then the second of each, and \
                      so on.",
        categories: &[BlockCategory::Basic],
    };
    let example = BlockExample::exactly(
        json!({ "lists": [[1, 2, 3], ["a"], ["x", "y"]] }),
        vec![("interleaved_list", json!([1, "a", "x", 2, "y", 3])), ("length", json!(6))],
    );
    let spec = about.spec::<Interleave>(outputs([
        list("interleaved_list", "The items of all lists, in turns."),
        integer("length", "How many items that are."),
    ]));
    pure(spec, run_interleave, vec![example])
}

fn run_interleave(input: Interleave) -> Result<Outputs, BlockError> {
    let mut turns: Vec<_> = inner_lists(input.lists)?.into_iter().map(Vec::into_iter).collect();
    let mut mixed = Vec::new();
    while !turns.is_empty() {
        // A list that has ended takes no more turns, so that one long list among many short ones costs no more.
        turns.retain_mut(|items| match items.next() {
            Some(item) => {
                mixed.push(item);
                true
            }
            None => false,
        });
    }
    let length = mixed.len();
    Ok(vec![("interleaved_list", mixed.into()), ("length", length.into())])
}
