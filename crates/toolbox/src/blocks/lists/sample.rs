//! `DataSamplingBlock`: selects a sample of a list.

use super::sampling::{self, SamplingMethod};
use crate::blocks::prelude::*;
use crate::blocks::result_limits::list_fits;

#[derive(Deserialize, JsonSchema)]
struct SampleDataInput {
    /// The list to sample. A dictionary counts as one item.
    data: Value,
    /// The number of items to select.
    #[serde(default = "ten")]
    sample_size: usize,
    /// How items are selected.
    #[serde(default)]
    sampling_method: SamplingMethod,
    /// Not supported. Collect the items in a list first.
    #[serde(default)]
    accumulate: bool,
    /// A seed for repeatable results: the same seed selects the same items.
    #[serde(default)]
    random_seed: Option<i64>,
    /// For `stratified`: the key to group items by.
    #[serde(default)]
    stratify_key: Option<String>,
    /// For `weighted`: the key that holds each item's weight.
    #[serde(default)]
    weight_key: Option<String>,
    /// For `cluster`: the key to group items into clusters by.
    #[serde(default)]
    cluster_key: Option<String>,
}

fn ten() -> usize {
    10
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "4a448883-71fa-49cf-91cf-70d793bd7d87",
        "DataSamplingBlock",
        "Selects a sample of a list: at random, at equal intervals, from either end, \
         by weight or by groups.",
    )
    .categories(&[BlockCategory::Logic])
    .outputs([
        pin::list("sampled_data", "The selected items."),
        pin::list("sample_indices", "The indices of the selected items in the data."),
    ]);
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: SampleDataInput) -> Result<PinValues, BlockError> {
    if input.accumulate {
        return Err(BlockError::failed(
            "`accumulate` is not supported. Collect the items in a list first.",
        ));
    }
    let items = match input.data {
        Value::Array(items) => items,
        one @ Value::Object(_) => vec![one],
        _ => return Err(BlockError::failed("`data` must be a list or a dictionary.")),
    };
    let size = input.sample_size;
    list_fits(size)?;
    if size > items.len() {
        let available = items.len();
        return Err(BlockError::failed(format!("Cannot select {size} items from {available}.")));
    }
    let key = match input.sampling_method {
        SamplingMethod::Stratified => input.stratify_key,
        SamplingMethod::Weighted => input.weight_key,
        SamplingMethod::Cluster => input.cluster_key,
        _ => None,
    };
    let indices =
        sampling::choose(&items, size, input.sampling_method, key.as_deref(), input.random_seed)?;
    let sampled: Vec<Value> = indices.iter().map(|index| items[*index].clone()).collect();
    Ok(vec![("sampled_data", sampled.into()), ("sample_indices", indices.into())])
}
