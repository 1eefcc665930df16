//! `FlattenListBlock`: flattens nested lists.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct FlattenListInput {
    /// The nested list to flatten.
    nested_list: Vec<Value>,
    /// How many levels to flatten. -1 flattens all.
    #[serde(default = "all_levels")]
    #[schemars(range(min = -1))]
    max_depth: i64,
}

fn all_levels() -> i64 {
    -1
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "cc45bb0f-d035-4756-96a7-fe3e36254b4d",
        "FlattenListBlock",
        "Flattens nested lists into one list, up to an optional depth.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::list("flattened_list", "The flattened list."),
        pin::integer("length", "The number of items."),
        pin::integer("original_depth", "The nesting depth of the original list."),
    ]);
    let flat = |input: Value, list: Value, length: usize, depth: usize| {
        BlockExample::exactly(
            input,
            vec![
                ("flattened_list", list),
                ("length", json!(length)),
                ("original_depth", json!(depth)),
            ],
        )
    };
    let examples = vec![
        flat(json!({ "nested_list": [[1, 2], [3, [4, 5]]] }), json!([1, 2, 3, 4, 5]), 5, 3),
        flat(
            json!({ "nested_list": [1, [2, [3, [4]]], 5], "max_depth": 1 }),
            json!([1, 2, [3, [4]], 5]),
            4,
            4,
        ),
        flat(json!({ "nested_list": [[]], "max_depth": 0 }), json!([[]]), 1, 2),
        flat(json!({ "nested_list": [] }), json!([]), 0, 1),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: FlattenListInput) -> Result<PinValues, BlockError> {
    let levels = match input.max_depth {
        -1 => usize::MAX,
        levels => usize::try_from(levels)
            .map_err(|_| BlockError::failed("`max_depth` must be -1 or a number of levels."))?,
    };
    let depth = depth(&input.nested_list);
    let flat = flatten(input.nested_list, levels);
    let length = flat.len();
    Ok(vec![
        ("flattened_list", flat.into()),
        ("length", length.into()),
        ("original_depth", depth.into()),
    ])
}

/// Nesting depth: one more than that of the deepest inner list.
fn depth(items: &[Value]) -> usize {
    let mut deepest = 1;
    let mut open = vec![(items.iter(), 1)];
    while let Some((items, level)) = open.last_mut() {
        let below = *level + 1;
        match items.next() {
            Some(Value::Array(inner)) => {
                deepest = deepest.max(below);
                open.push((inner.iter(), below));
            }
            Some(_) => {}
            None => {
                open.pop();
            }
        }
    }
    deepest
}

/// Iterative, because untrusted nesting depth could overflow the stack.
fn flatten(items: Vec<Value>, levels: usize) -> Vec<Value> {
    let mut flat = Vec::new();
    let mut open = vec![items.into_iter()];
    while let Some(items) = open.last_mut() {
        match items.next() {
            Some(Value::Array(inner)) if open.len() <= levels => open.push(inner.into_iter()),
            Some(item) => flat.push(item),
            None => {
                open.pop();
            }
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_depth_other_than_minus_one_is_rejected() {
        assert!(run(FlattenListInput { nested_list: Vec::new(), max_depth: -2 }).is_err());
    }
}
