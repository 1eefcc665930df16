//! Following an execution: everything from the beginning, in order, and nothing twice after a reconnect.

use serde_json::{Value, json};
use testkit::model_server::{Gate, ModelServer, Script};

use super::execution_fixtures::{ASK_MODEL, CALCULATE, GraphBuilder, STEP_THROUGH};
use super::execution_stream::{ExecutionEvent, numbered};
use super::server_for;

#[tokio::test]
async fn a_stream_starts_with_the_execution_and_resumes_after_a_cursor() {
    let model = ModelServer::start().await;
    let gate = Gate::closed();
    model.enqueue(Script::default().say("forty").wait_for(&gate).say("-two"));
    let server = server_for(&model, &[]);
    let agent = GraphBuilder::default()
        .node("numbers", STEP_THROUGH, json!({"items": [1, 2, 3]}))
        .node("next", CALCULATE, json!({"operation": "Add", "b": 1}))
        .node("think", ASK_MODEL, json!({"prompt": "what?"}))
        .link("numbers.item", "next.a")
        .output("results", "next.result")
        .output("answer", "think.response");
    let run = agent.save(&server, "Watched").await.start(&server).await;

    let mut live = run.follow(&server).await;
    // The slow node is shown while it runs.
    let seen = live.until_node("think").await;
    drop(live);
    let mut later = run.follow_after(&server, seen).await;
    assert!(
        matches!(later.next().await, Ok(ExecutionEvent::Execution(row)) if row["status"] == "RUNNING")
    );
    gate.open();
    let rest = later.all().await;

    let whole = run.follow(&server).await.all().await;
    let all = numbered(&whole);
    let numbers: Vec<u64> = all.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=all.len() as u64).collect::<Vec<_>>(), "numbers are dense");
    assert_eq!(numbered(&rest), all[seen as usize..], "nothing lost, nothing twice");
    assert!(
        matches!(rest.last(), Some(ExecutionEvent::Execution(row)) if row["status"] == "COMPLETED")
    );
    let told = |node: &str, pin: &str| -> Vec<Value> {
        let of_node = all.iter().filter(|(_, data)| data["node_id"] == node);
        of_node
            .filter_map(|(_, data)| data["output_data"][pin].as_array())
            .flatten()
            .cloned()
            .collect()
    };
    let read = run.completed(&server).await;
    assert_eq!(told("out_results", "output"), [2.0, 3.0, 4.0]);
    assert_eq!(json!(told("out_results", "output")), read["outputs"]["results"]);
    assert_eq!(told("out_answer", "output"), ["forty-two"]);

    for after in 0..=all.len() {
        let resumed = numbered(&run.follow_after(&server, after as u64).await.all().await);
        assert_eq!(resumed, all[after..], "after {after}");
    }
    let lost = run.follow_after(&server, 1_000_000).await.all().await;
    assert_eq!(numbered(&lost), all, "an unknown cursor gets everything");
    model.assert_no_violations();
}
