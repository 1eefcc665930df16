//! The sample block of CONTRIBUTING.md, added to a folder as that document says. Only tests compile it.

#[path = "../../../tests/it/blocks/block_check.rs"]
mod block_check;

blocks! {
    capitalize_words,
}

use std::time::Duration;

use protocol::limits::UserLimits;
use testkit::sim::{
    EventTrace, FaultSchedule, NodeFault, SimModel, SimNode, SimRng, Simulation, SimulationConfig,
};

use super::BlockDependencies;
use crate::egress::{EgressClient, EgressOptions};

#[test]
fn the_sample_in_the_document_is_the_file_that_is_compiled() {
    let document = include_str!("../../../../../CONTRIBUTING.md");
    let (_, section) = document.split_once("\n### A block\n").expect("the section");
    let (_, sample) = section.split_once("\n```rust\n").expect("a sample");
    let (sample, _) = sample.split_once("```\n").expect("the end of the sample");
    assert_eq!(sample, include_str!("capitalize_words.rs"));
}

#[tokio::test]
async fn the_sample_is_a_block_like_every_other() {
    let all = blocks(&dependencies());
    let names: Vec<&str> = all.iter().map(|block| block.spec().name).collect();
    assert_eq!(names, ["CapitalizeWordsBlock"]);
    for block in &all {
        block_check::assert_described(&**block);
        assert_eq!(block.spec().required().collect::<Vec<_>>(), ["text"]);
        assert!(block.spec().output("output").is_some() && block.spec().output("error").is_some());
        assert_eq!(block_check::assert_examples(&**block).await, 2);
    }
}

/// Dependencies that no pure block uses.
fn dependencies() -> BlockDependencies {
    let config = SimulationConfig {
        caps: UserLimits::default(),
        lease: Duration::from_secs(1),
        workers: 1,
        delegations_per_mille: 0,
        faults: FaultSchedule::default(),
    };
    let simulation = Simulation::new(SimRng::new(1), config, EventTrace::Off);
    let node = SimNode::start(&simulation, NodeFault::None);
    let ports = node.ports();
    BlockDependencies {
        model: SimModel::of(&node),
        clock: ports.clock,
        egress: EgressClient::new(EgressOptions::default()).expect("a client"),
        files: ports.files,
        values: ports.values,
        library: ports.library,
        listings: ports.listings,
    }
}
