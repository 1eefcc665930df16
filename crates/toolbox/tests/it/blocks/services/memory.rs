//! Values stored between runs.

use ports::block::BlockContext;
use protocol::limits::VALUE_BYTES;
use serde_json::json;

use super::{Bench, one};

#[tokio::test]
async fn a_value_is_available_to_later_runs_of_the_same_agent_only() {
    let bench = Bench::new();
    let persist = json!({ "key": "count", "value": 3 });
    assert_eq!(bench.run("PersistInformationBlock", persist).await, one("value", json!(3)));
    let recall = json!({ "key": "count", "default_value": 0 });
    assert_eq!(bench.run("RetrieveInformationBlock", recall.clone()).await, one("value", json!(3)));
    let mut other = bench.context();
    other.node.as_mut().expect("a node").graph_id = "another".into();
    let elsewhere = bench.run_in(other, "RetrieveInformationBlock", recall).await;
    assert_eq!(elsewhere, one("value", json!(0)));
}

#[tokio::test]
async fn a_shared_value_is_available_to_every_agent_of_the_user() {
    let bench = Bench::new();
    let persist = json!({ "key": "city", "value": "Lisbon", "scope": "across_agents" });
    bench.run("PersistInformationBlock", persist).await.expect("stored");
    let recall = json!({ "key": "city", "scope": "across_agents" });
    let mut other = bench.context();
    other.node = None;
    let recalled = bench.run_in(other.clone(), "RetrieveInformationBlock", recall.clone()).await;
    assert_eq!(recalled, one("value", json!("Lisbon")));
    let stranger = BlockContext { user: "stranger".into(), ..other };
    let recalled = bench.run_in(stranger, "RetrieveInformationBlock", recall).await;
    assert_eq!(recalled, one("value", json!(null)));
}

#[tokio::test]
async fn oversized_values_are_rejected_and_a_dry_run_stores_nothing() {
    let bench = Bench::new();
    let large = json!({ "key": "a", "value": "x".repeat(VALUE_BYTES) });
    bench.failure("PersistInformationBlock", large).await;
    bench.failure("PersistInformationBlock", json!({ "key": "", "value": 1 })).await;
    let dry = BlockContext { dry_run: true, ..bench.context() };
    let outputs =
        bench.run_in(dry, "PersistInformationBlock", json!({ "key": "b", "value": 1 })).await;
    assert_eq!(outputs, one("value", json!(1)));
    let recalled = bench.run("RetrieveInformationBlock", json!({ "key": "b" })).await;
    assert_eq!(recalled, one("value", json!(null)));
}
