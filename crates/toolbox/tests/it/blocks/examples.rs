//! Checks every block against its spec and examples.

use std::collections::HashSet;

use super::all;
use super::block_check::{assert_described, assert_examples};

#[tokio::test]
async fn every_block_produces_its_example_outputs() {
    let mut examples = 0;
    for block in all() {
        examples += assert_examples(&*block).await;
    }
    assert!(examples > 100, "only {examples} examples");
}

#[test]
fn every_block_has_a_unique_id_and_name() {
    let blocks = all();
    let ids: HashSet<_> = blocks.iter().map(|block| block.spec().id).collect();
    let names: HashSet<_> = blocks.iter().map(|block| block.spec().name).collect();
    assert_eq!((ids.len(), names.len()), (blocks.len(), blocks.len()));
    for block in &blocks {
        let spec = block.spec();
        let groups: Vec<usize> = spec.id.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12], "{} has no UUID", spec.name);
        assert!(spec.id.chars().all(|c| c == '-' || c.is_ascii_hexdigit()), "{}", spec.id);
        assert!(spec.name.ends_with("Block"), "{}", spec.name);
    }
}

#[test]
fn every_block_and_every_pin_is_described() {
    for block in all() {
        assert_described(&*block);
    }
}
