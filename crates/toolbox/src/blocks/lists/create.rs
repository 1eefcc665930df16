//! `CreateListBlock`: creates a list, optionally split into batches.

use crate::blocks::prelude::*;

/// Average bytes per token; exact counts depend on the model's tokenizer.
const TOKEN_BYTES: usize = 4;

#[derive(Deserialize, JsonSchema)]
struct CreateListInput {
    /// The items of the list.
    values: Vec<Value>,
    /// Maximum items per list. Larger lists are split into several.
    #[serde(default)]
    max_size: Option<usize>,
    /// Approximate maximum tokens per list. Larger lists are split into several.
    #[serde(default)]
    max_tokens: Option<usize>,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "a912d5c7-6e00-4542-b2a9-8034136930e4",
        "CreateListBlock",
        "Creates a list from fixed items, optionally split into batches of a limited \
         size.",
    )
    .categories(&[BlockCategory::Data])
    .outputs([pin::list("list", "The list, or each batch of it.")]);
    let examples = vec![
        BlockExample::exactly(
            json!({ "values": ["Ann", 25, true] }),
            vec![("list", json!(["Ann", 25, true]))],
        ),
        BlockExample::exactly(
            json!({ "values": [1, 2, 3], "max_size": 2 }),
            vec![("list", json!([1, 2])), ("list", json!([3]))],
        ),
        BlockExample::exactly(
            json!({ "values": ["eight by", "tes here", "x"], "max_tokens": 3 }),
            vec![("list", json!(["eight by"])), ("list", json!(["tes here", "x"]))],
        ),
        BlockExample::exactly(json!({ "values": [] }), vec![("list", json!([]))]),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: CreateListInput) -> Result<PinValues, BlockError> {
    let max_items = input.max_size.filter(|max| *max > 0).unwrap_or(usize::MAX);
    let max_tokens = input.max_tokens.filter(|max| *max > 0);
    if max_items == usize::MAX && max_tokens.is_none() {
        return Ok(vec![("list", input.values.into())]);
    }
    let mut batches = Vec::new();
    let (mut batch, mut tokens) = (Vec::new(), 0);
    for value in input.values {
        let more = max_tokens.map_or(0, |_| estimate_tokens(&value));
        let full = batch.len() >= max_items || max_tokens.is_some_and(|max| tokens + more > max);
        if full && !batch.is_empty() {
            batches.push(("list", std::mem::take(&mut batch).into()));
            tokens = 0;
        }
        batch.push(value);
        tokens += more;
    }
    if !batch.is_empty() || batches.is_empty() {
        batches.push(("list", batch.into()));
    }
    Ok(batches)
}

fn estimate_tokens(value: &Value) -> usize {
    let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
    bytes.div_ceil(TOKEN_BYTES)
}
