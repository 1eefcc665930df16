//! Sampling methods: each selects indices of a list.

use std::collections::{BinaryHeap, HashMap};

use ports::block::BlockError;
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::rngs::StdRng;
use rand::seq::{SliceRandom, index as index_sampling};
use rand::{RngExt, SeedableRng};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SamplingMethod {
    #[default]
    Random,
    Systematic,
    Top,
    Bottom,
    Stratified,
    Weighted,
    Reservoir,
    Cluster,
}

/// Selects `size` indices. The caller guarantees that `items` has at least `size` items.
pub(crate) fn choose(
    items: &[Value],
    size: usize,
    method: SamplingMethod,
    key: Option<&str>,
    seed: Option<i64>,
) -> Result<Vec<usize>, BlockError> {
    let mut rng = match seed {
        Some(seed) => StdRng::seed_from_u64(seed.cast_unsigned()),
        None => StdRng::from_rng(&mut rand::rng()),
    };
    if size == 0 {
        return Ok(Vec::new());
    }
    let length = items.len();
    let key = || {
        key.filter(|key| !key.is_empty())
            .ok_or_else(|| BlockError::failed("This sampling method needs a key."))
    };
    match method {
        // Reservoir sampling is random sampling over a stream; with all items in memory it is plain random sampling.
        SamplingMethod::Random | SamplingMethod::Reservoir => {
            Ok(index_sampling::sample(&mut rng, length, size).into_vec())
        }
        SamplingMethod::Systematic => {
            let step = length / size;
            let start = rng.random_range(0..step);
            Ok((start..length).step_by(step).take(size).collect())
        }
        SamplingMethod::Top => Ok((0..size).collect()),
        SamplingMethod::Bottom => Ok((length - size..length).collect()),
        SamplingMethod::Stratified => Ok(stratified(&groups(items, key()?)?, size, &mut rng)),
        SamplingMethod::Weighted => weighted(items, key()?, size, &mut rng),
        SamplingMethod::Cluster => Ok(clusters(groups(items, key()?)?, size, &mut rng)),
    }
}

/// Indices grouped by the value of `key`, in order of first appearance.
fn groups(items: &[Value], key: &str) -> Result<Vec<Vec<usize>>, BlockError> {
    let mut groups: HashMap<String, usize> = HashMap::new();
    let mut indices: Vec<Vec<usize>> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let value = item.get(key).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| missing(index, key))?;
        let group = *groups.entry(value.to_string()).or_insert(indices.len());
        match indices.get_mut(group) {
            Some(group) => group.push(index),
            None => indices.push(vec![index]),
        }
    }
    Ok(indices)
}

fn missing(index: usize, key: &str) -> BlockError {
    BlockError::failed(format!("Item {index} has no `{key}`."))
}

/// Selects from each group in proportion to its size, and at least one item per group if `size` allows.
fn stratified(groups: &[Vec<usize>], size: usize, rng: &mut StdRng) -> Vec<usize> {
    let length: usize = groups.iter().map(Vec::len).sum();
    let share = |group: &Vec<usize>| (group.len() * size / length).max(1);
    let mut sizes: Vec<usize> = groups.iter().map(share).collect();
    let mut total: usize = sizes.iter().sum();
    let mut largest: BinaryHeap<(usize, usize)> =
        sizes.iter().enumerate().map(|(group, size)| (*size, group)).collect();
    while total > size {
        let Some((size, group)) = largest.pop() else { break };
        sizes[group] = size - 1;
        largest.push((size - 1, group));
        total -= 1;
    }
    let mut roomiest: BinaryHeap<(usize, usize)> =
        groups.iter().zip(&sizes).map(|(group, size)| group.len() - size).zip(0..).collect();
    while total < size {
        let Some((room, group)) = roomiest.pop() else { break };
        sizes[group] += 1;
        roomiest.push((room - 1, group));
        total += 1;
    }
    let mut chosen = Vec::with_capacity(size);
    for (group, size) in groups.iter().zip(sizes) {
        chosen
            .extend(index_sampling::sample(rng, group.len(), size).into_iter().map(|at| group[at]));
    }
    chosen
}

/// Selects with replacement, with probability proportional to weight.
fn weighted(
    items: &[Value],
    key: &str,
    size: usize,
    rng: &mut StdRng,
) -> Result<Vec<usize>, BlockError> {
    let weight = |(index, item): (usize, &Value)| {
        let value = item.get(key).ok_or_else(|| missing(index, key))?;
        let weight = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        weight.ok_or_else(|| {
            BlockError::failed(format!("The `{key}` of item {index} is not a number."))
        })
    };
    let weights = items.iter().enumerate().map(weight).collect::<Result<Vec<f64>, _>>()?;
    let weights = WeightedIndex::new(weights)
        .map_err(|error| BlockError::failed(format!("The weights are invalid: {error}.")))?;
    Ok((0..size).map(|_| weights.sample(rng)).collect())
}

/// Takes whole clusters until there are enough items, then samples `size` of them.
fn clusters(mut groups: Vec<Vec<usize>>, size: usize, rng: &mut StdRng) -> Vec<usize> {
    groups.shuffle(rng);
    let mut chosen = Vec::new();
    for group in groups {
        if chosen.len() >= size {
            break;
        }
        chosen.extend(group);
    }
    index_sampling::sample(rng, chosen.len(), size).into_iter().map(|at| chosen[at]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    const METHODS: [SamplingMethod; 8] = [
        SamplingMethod::Random,
        SamplingMethod::Systematic,
        SamplingMethod::Top,
        SamplingMethod::Bottom,
        SamplingMethod::Stratified,
        SamplingMethod::Weighted,
        SamplingMethod::Reservoir,
        SamplingMethod::Cluster,
    ];

    fn items(count: u32) -> Vec<Value> {
        (0..count).map(|n| json!({ "n": n, "group": n % 7, "one": n })).collect()
    }

    #[test]
    fn every_method_selects_the_requested_number_and_repeats_for_the_same_seed() {
        let items = items(50);
        for method in METHODS {
            for size in [0, 1, 3, 7, 20, 50] {
                let chosen = choose(&items, size, method, Some("group"), Some(7)).expect("indices");
                assert_eq!(chosen.len(), size, "{method:?} {size}");
                assert!(chosen.iter().all(|index| *index < items.len()));
                let again = choose(&items, size, method, Some("group"), Some(7)).expect("indices");
                assert_eq!(chosen, again, "{method:?} {size}");
                let different: HashSet<_> = chosen.iter().collect();
                assert!(
                    method == SamplingMethod::Weighted || different.len() == size,
                    "{method:?} {size}"
                );
            }
        }
    }

    #[test]
    fn stratified_sampling_includes_every_group_if_the_size_allows() {
        let items = items(50);
        let chosen =
            choose(&items, 7, SamplingMethod::Stratified, Some("group"), None).expect("indices");
        let groups: HashSet<_> = chosen.iter().map(|index| index % 7).collect();
        assert_eq!(groups.len(), 7);
        let alone =
            choose(&items, 3, SamplingMethod::Stratified, Some("one"), None).expect("indices");
        assert_eq!(alone.len(), 3);
    }

    #[test]
    fn a_missing_key_or_zero_weight_is_rejected() {
        let items = items(3);
        for method in
            [SamplingMethod::Stratified, SamplingMethod::Weighted, SamplingMethod::Cluster]
        {
            assert!(choose(&items, 1, method, None, None).is_err());
            assert!(choose(&items, 1, method, Some("nothing"), None).is_err());
        }
        let weightless = [json!({ "w": 0 })];
        assert!(choose(&weightless, 1, SamplingMethod::Weighted, Some("w"), None).is_err());
    }
}
