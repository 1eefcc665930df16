//! Executions with thousands of node executions: none is lost, and the queue never grows so far that the execution
//! loses its lease.

use serde_json::{Value, json};

use super::ENGINE;
use super::execution_fixtures::{CALCULATE, GraphBuilder, STEP_THROUGH};
use crate::server::TestServer;

const ITEMS: usize = 5_000;
const SIDE: usize = 60;

#[tokio::test]
async fn an_execution_iterates_over_thousands_of_items_and_nested_lists() {
    let server = TestServer::start(ENGINE);
    let items: Vec<usize> = (0..ITEMS).collect();
    let lists: Vec<Vec<usize>> = (0..SIDE).map(|_| (0..SIDE).collect()).collect();
    let agent = GraphBuilder::default()
        .node("items", STEP_THROUGH, json!({"items": items}))
        .node("one", CALCULATE, json!({"operation": "Add", "b": 1}))
        .link("items.item", "one.a")
        .node("lists", STEP_THROUGH, json!({"items": lists}))
        .node("list", STEP_THROUGH, json!({}))
        .node("inner", CALCULATE, json!({"operation": "Multiply", "b": 2}))
        .link("lists.item", "list.items")
        .link("list.item", "inner.a")
        .output("doubled", "inner.result");
    let agent = agent.save(&server, "Many").await;
    let run = agent.start(&server).await.completed(&server).await;
    // The two first steppers, a calculation for every item, a stepper for every list, and for each of its items a
    // calculation and an output.
    let expected = 2 + ITEMS + SIDE + 2 * SIDE * SIDE;
    assert_eq!(run["stats"]["node_count"], json!(expected));
    assert_eq!(run["stats"]["node_error_count"], json!(0));
    let doubled: Vec<f64> = run["outputs"]["doubled"]
        .as_array()
        .expect("outputs")
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    let in_order: Vec<f64> =
        (0..SIDE).flat_map(|_| (0..SIDE).map(|number| 2.0 * number as f64)).collect();
    assert_eq!(doubled, in_order, "outputs keep the order of inputs");
}
