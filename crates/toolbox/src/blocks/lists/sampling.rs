//! The ways to choose some places of a list.

use std::collections::{BinaryHeap, HashMap};

use ports::block::BlockError;
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::rngs::StdRng;
use rand::seq::{SliceRandom, index};
use rand::{RngExt, SeedableRng};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Method {
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

/// Chooses `size` places; there are at least so many items.
pub(super) fn choose(
    items: &[Value],
    size: usize,
    method: Method,
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
        key.filter(|key| !key.is_empty()).ok_or_else(|| {
            BlockError::failed("This way of choosing needs the key by which it chooses.")
        })
    };
    match method {
        // A reservoir is the way to choose at random from items that come one by one. Here they are all there.
        Method::Random | Method::Reservoir => Ok(index::sample(&mut rng, length, size).into_vec()),
        Method::Systematic => {
            let step = length / size;
            let start = rng.random_range(0..step);
            Ok((start..length).step_by(step).take(size).collect())
        }
        Method::Top => Ok((0..size).collect()),
        Method::Bottom => Ok((length - size..length).collect()),
        Method::Stratified => Ok(stratified(&groups(items, key()?)?, size, &mut rng)),
        Method::Weighted => weighted(items, key()?, size, &mut rng),
        Method::Cluster => Ok(clusters(groups(items, key()?)?, size, &mut rng)),
    }
}

/// The places of the items by what they have under the key, in the order of their first item.
fn groups(items: &[Value], key: &str) -> Result<Vec<Vec<usize>>, BlockError> {
    let mut groups: HashMap<String, usize> = HashMap::new();
    let mut places: Vec<Vec<usize>> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let value = item.get(key).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| missing(place, key))?;
        let group = *groups.entry(value.to_string()).or_insert(places.len());
        match places.get_mut(group) {
            Some(group) => group.push(place),
            None => places.push(vec![place]),
        }
    }
    Ok(places)
}

fn missing(place: usize, key: &str) -> BlockError {
    BlockError::failed(format!("Item {place} has no `{key}`."))
}

/// From every group about its share, and at least one item of each as long as there is room.
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
        chosen.extend(index::sample(rng, group.len(), size).into_iter().map(|at| group[at]));
    }
    chosen
}

/// The heavier, the more often; the same item may be chosen again.
fn weighted(
    items: &[Value],
    key: &str,
    size: usize,
    rng: &mut StdRng,
) -> Result<Vec<usize>, BlockError> {
    let weight = |(place, item): (usize, &Value)| {
        let value = item.get(key).ok_or_else(|| missing(place, key))?;
        let weight = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        weight
            .ok_or_else(|| BlockError::failed(format!("The `{key}` of item {place} is no number.")))
    };
    let weights = items.iter().enumerate().map(weight).collect::<Result<Vec<f64>, _>>()?;
    let weights = WeightedIndex::new(weights)
        .map_err(|error| BlockError::failed(format!("Nothing can be chosen: {error}.")))?;
    Ok((0..size).map(|_| weights.sample(rng)).collect())
}

/// Whole clusters until there are enough, and of those as many as are wanted.
fn clusters(mut groups: Vec<Vec<usize>>, size: usize, rng: &mut StdRng) -> Vec<usize> {
    groups.shuffle(rng);
    let mut chosen = Vec::new();
    for group in groups {
        if chosen.len() >= size {
            break;
        }
        chosen.extend(group);
    }
    index::sample(rng, chosen.len(), size).into_iter().map(|at| chosen[at]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    const METHODS: [Method; 8] = [
        Method::Random,
        Method::Systematic,
        Method::Top,
        Method::Bottom,
        Method::Stratified,
        Method::Weighted,
        Method::Reservoir,
        Method::Cluster,
    ];

    fn items(count: u32) -> Vec<Value> {
        (0..count).map(|n| json!({ "n": n, "group": n % 7, "one": n })).collect()
    }

    #[test]
    fn every_method_chooses_as_many_as_are_wanted_and_the_same_for_the_same_seed() {
        let items = items(50);
        for method in METHODS {
            for size in [0, 1, 3, 7, 20, 50] {
                let chosen = choose(&items, size, method, Some("group"), Some(7)).expect("places");
                assert_eq!(chosen.len(), size, "{method:?} {size}");
                assert!(chosen.iter().all(|place| *place < items.len()));
                let again = choose(&items, size, method, Some("group"), Some(7)).expect("places");
                assert_eq!(chosen, again, "{method:?} {size}");
                let different: HashSet<_> = chosen.iter().collect();
                assert!(method == Method::Weighted || different.len() == size, "{method:?} {size}");
            }
        }
    }

    #[test]
    fn every_group_is_there_when_there_is_room_for_it() {
        let items = items(50);
        let chosen = choose(&items, 7, Method::Stratified, Some("group"), None).expect("places");
        let groups: HashSet<_> = chosen.iter().map(|place| place % 7).collect();
        assert_eq!(groups.len(), 7);
        let alone = choose(&items, 3, Method::Stratified, Some("one"), None).expect("places");
        assert_eq!(alone.len(), 3);
    }

    #[test]
    fn what_cannot_be_chosen_says_why() {
        let items = items(3);
        for method in [Method::Stratified, Method::Weighted, Method::Cluster] {
            assert!(choose(&items, 1, method, None, None).is_err());
            assert!(choose(&items, 1, method, Some("nothing"), None).is_err());
        }
        let weightless = [json!({ "w": 0 })];
        assert!(choose(&weightless, 1, Method::Weighted, Some("w"), None).is_err());
    }
}
