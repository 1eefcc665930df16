//! `ZipListsBlock`: groups the items of several lists by index.

use super::inner_lists;
use crate::blocks::prelude::*;
use crate::blocks::result_limits::{list_fits, text_fits};

#[derive(Deserialize, JsonSchema)]
struct ZipListsInput {
    /// The lists to combine.
    #[schemars(with = "Vec<Option<Vec<Value>>>")]
    lists: Vec<Value>,
    /// Continue to the end of the longest list instead of the shortest.
    #[serde(default)]
    pad_to_longest: bool,
    /// The value for missing items of shorter lists.
    #[serde(default)]
    fill_value: Value,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "0d0e684f-5cb9-4c4b-b8d1-47a0860e0c07",
        "ZipListsBlock",
        "Combines lists by index: one group with all first items, one with all second \
         items, and so on.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::list("zipped_list", "The list of groups."),
        pin::integer("length", "The number of groups."),
    ]);
    let zipped = |input: Value, list: Value, length: usize| {
        BlockExample::exactly(input, vec![("zipped_list", list), ("length", json!(length))])
    };
    let examples = vec![
        zipped(json!({ "lists": [[1, 2, 3], ["a", "b"]] }), json!([[1, "a"], [2, "b"]]), 2),
        zipped(
            json!({ "lists": [[1], ["a", "b"]], "pad_to_longest": true, "fill_value": 0 }),
            json!([[1, "a"], [0, "b"]]),
            2,
        ),
        zipped(json!({ "lists": [] }), json!([]), 0),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: ZipListsInput) -> Result<PinValues, BlockError> {
    let lists = inner_lists(input.lists)?;
    let lengths = lists.iter().map(Vec::len);
    let length = if input.pad_to_longest { lengths.max() } else { lengths.min() }.unwrap_or(0);
    list_fits(length.saturating_mul(lists.len()))?;
    let filled: usize = lists.iter().map(|list| length.saturating_sub(list.len())).sum();
    text_fits(filled.saturating_mul(input.fill_value.to_string().len()))?;
    let mut columns: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut group = || -> Value {
        let fill = || input.fill_value.clone();
        columns.iter_mut().map(|column| column.next().unwrap_or_else(fill)).collect()
    };
    let zipped: Vec<Value> = (0..length).map(|_| group()).collect();
    Ok(vec![("zipped_list", zipped.into()), ("length", length.into())])
}
