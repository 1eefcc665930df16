//! A list from its items, whole or in portions.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{list, outputs};

/// Letters of a token, on average. Only a model knows better, and only for itself.
const TOKEN_BYTES: usize = 4;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The items.
    values: Vec<Value>,
    /// The most items of one list; more of them come in several lists.
    #[serde(default)]
    max_size: Option<usize>,
    /// About the most tokens of one list; more of them come in several lists.
    #[serde(default)]
    max_tokens: Option<usize>,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "a912d5c7-6e00-4542-b2a9-8034136930e4",
        name: "CreateListBlock",
        description: "Makes a list of items that are all known from the start, in one piece or \
                      in portions of a limited size.",
        categories: &[BlockCategory::Data],
    };
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
    let spec = about.spec::<Input>(outputs([list("list", "The list, or a portion of it.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let most_items = input.max_size.filter(|most| *most > 0).unwrap_or(usize::MAX);
    let most_tokens = input.max_tokens.filter(|most| *most > 0);
    if most_items == usize::MAX && most_tokens.is_none() {
        return Ok(vec![("list", input.values.into())]);
    }
    let mut portions = Vec::new();
    let (mut portion, mut tokens) = (Vec::new(), 0);
    for value in input.values {
        let more = most_tokens.map_or(0, |_| estimate(&value));
        let full =
            portion.len() >= most_items || most_tokens.is_some_and(|most| tokens + more > most);
        if full && !portion.is_empty() {
            portions.push(("list", std::mem::take(&mut portion).into()));
            tokens = 0;
        }
        portion.push(value);
        tokens += more;
    }
    if !portion.is_empty() || portions.is_empty() {
        portions.push(("list", portion.into()));
    }
    Ok(portions)
}

fn estimate(value: &Value) -> usize {
    let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
    bytes.div_ceil(TOKEN_BYTES)
}
