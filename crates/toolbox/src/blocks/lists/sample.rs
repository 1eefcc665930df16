//! Some items of many.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::sampling::{self, Method};
use crate::blocks::pure::{About, Outputs, list_fits, pure};
use crate::blocks::typed::{list, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The items to choose from; a dictionary counts as one item.
    data: Value,
    /// How many items to choose.
    #[serde(default = "ten")]
    sample_size: usize,
    /// How they are chosen.
    #[serde(default)]
    sampling_method: Method,
    /// Not available: collect the items in a list first.
    #[serde(default)]
    accumulate: bool,
    /// With the same seed the same items are chosen.
    #[serde(default)]
    random_seed: Option<i64>,
    /// For `stratified`: the key whose values divide the items into groups.
    #[serde(default)]
    stratify_key: Option<String>,
    /// For `weighted`: the key whose value is the weight of an item.
    #[serde(default)]
    weight_key: Option<String>,
    /// For `cluster`: the key whose values divide the items into clusters.
    #[serde(default)]
    cluster_key: Option<String>,
}

fn ten() -> usize {
    10
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "4a448883-71fa-49cf-91cf-70d793bd7d87",
        name: "DataSamplingBlock",
        description: "Chooses some items of a list: at random, at equal distances, from either \
                      end, by weight, or by groups.",
        categories: &[BlockCategory::Logic],
    };
    let items = json!([{ "g": 1 }, { "g": 2 }, { "g": 1 }]);
    let examples = vec![
        BlockExample::exactly(
            json!({ "data": items, "sample_size": 2, "sampling_method": "top" }),
            vec![
                ("sampled_data", json!([{ "g": 1 }, { "g": 2 }])),
                ("sample_indices", json!([0, 1])),
            ],
        ),
        BlockExample::exactly(
            json!({ "data": { "id": 1 }, "sample_size": 1 }),
            vec![("sampled_data", json!([{ "id": 1 }])), ("sample_indices", json!([0]))],
        ),
        BlockExample::shape(
            json!({ "data": items, "sample_size": 2, "sampling_method": "stratified",
                    "stratify_key": "g", "random_seed": 42 }),
            vec![("sampled_data", json!([])), ("sample_indices", json!([]))],
        ),
    ];
    let spec = about.spec::<Input>(outputs([
        list("sampled_data", "The chosen items."),
        list("sample_indices", "Their places in the data."),
    ]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    if input.accumulate {
        return Err(BlockError::failed(
            "Items are not kept between runs: collect them in a list first.",
        ));
    }
    let items = match input.data {
        Value::Array(items) => items,
        one @ Value::Object(_) => vec![one],
        _ => return Err(BlockError::failed("`data` is a list or a dictionary.")),
    };
    let size = input.sample_size;
    list_fits(size)?;
    if size > items.len() {
        let there = items.len();
        return Err(BlockError::failed(format!("{size} of {there} items cannot be chosen.")));
    }
    let key = match input.sampling_method {
        Method::Stratified => input.stratify_key,
        Method::Weighted => input.weight_key,
        Method::Cluster => input.cluster_key,
        _ => None,
    };
    let places =
        sampling::choose(&items, size, input.sampling_method, key.as_deref(), input.random_seed)?;
    let sampled: Vec<Value> = places.iter().map(|place| items[*place].clone()).collect();
    Ok(vec![("sampled_data", sampled.into()), ("sample_indices", places.into())])
}
