//! Other agents, the copilot, human review, the library and the marketplace.

use std::time::Duration;

use ports::block::{BlockContext, BlockError, ReviewRequest};
use protocol::review::ReviewDecision;
use serde_json::{Value, json};

use super::fakes::listing;
use super::{Bench, pins};

fn human() -> Value {
    json!({ "data": { "amount": 30 }, "name": "The order" })
}

#[tokio::test]
async fn a_nested_agent_gets_inputs_by_name_and_its_outputs_are_emitted() {
    let bench = Bench::new();
    let input = json!({
        "graph_id": "child", "graph_version": 4, "user_id": "", "input_schema": {}, "output_schema": {},
        "inputs": { "topic": "tides", "count": 1 }, "count": 2,
    });
    let outputs = bench.run("AgentExecutorBlock", input).await.expect("outputs");
    assert_eq!(pins(&outputs), json!([["sum", 3], ["note", "a"], ["sum", 4]]));
    let child = bench.services.children.lock().expect("the lock is not poisoned").remove(0);
    assert_eq!((child.graph_id.as_str(), child.graph_version), ("child", 4));
    assert_eq!(Value::Object(child.inputs), json!({ "topic": "tides", "count": 2 }));
}

#[tokio::test]
async fn a_nested_agent_is_canceled_with_its_parent() {
    let bench = Bench::new();
    let context = bench.context();
    let cancel = context.cancel.clone();
    let input = json!({ "graph_id": "endless", "graph_version": 1 });
    let run = bench.run_in(context, "AgentExecutorBlock", input);
    let stop = async { cancel.cancel() };
    let both = async { tokio::join!(run, stop) };
    let (ended, ()) = tokio::time::timeout(Duration::from_secs(5), both).await.expect("it ends");
    assert_eq!(ended, Err(BlockError::Stopped));
}

#[tokio::test]
async fn a_review_is_requested_and_its_decision_is_emitted() {
    let bench = Bench::new();
    let asking = BlockContext { ask_first: true, ..bench.context() };
    let asked = bench.run_in(asking.clone(), "HumanInTheLoopBlock", human()).await;
    let ask = ReviewRequest {
        payload: json!({ "amount": 30 }),
        instructions: "The order".into(),
        editable: true,
    };
    assert_eq!(asked, Err(BlockError::Review(ask)));
    for (approved, pin) in [(true, "approved_data"), (false, "rejected_data")] {
        let message = Some("Less is enough.".to_owned());
        let decision = Some(ReviewDecision { approved, data: json!({ "amount": 20 }), message });
        let decided = BlockContext { decision, ..asking.clone() };
        let outputs = bench.run_in(decided, "HumanInTheLoopBlock", human()).await.expect("outputs");
        assert_eq!(
            pins(&outputs),
            json!([[pin, { "amount": 20 }], ["review_message", "Less is enough."]])
        );
    }
}

#[tokio::test]
async fn data_is_approved_automatically_if_reviews_are_off() {
    let bench = Bench::new();
    let outputs = bench.run("HumanInTheLoopBlock", human()).await.expect("outputs");
    assert_eq!(outputs[0], ("approved_data".to_owned(), json!({ "amount": 30 })));
}

#[tokio::test]
async fn the_copilot_gets_the_task_and_its_tool_filter() {
    let bench = Bench::new();
    let input = json!({
        "prompt": "List my agents.", "system_context": "Be brief.", "tools": ["bash_exec"], "blocks": ["c069dc6b"],
        "blocks_exclude": false,
    });
    let outputs = bench.run("AutoPilotBlock", input).await.expect("outputs");
    assert_eq!(
        pins(&outputs),
        json!([
            ["response", "You have two agents."],
            ["tool_calls", [{ "tool_call_id": "call-1", "tool_name": "find_library_agent", "done": true }]],
            ["conversation_history", "[{\"role\":\"user\",\"content\":\"List my agents.\"}]"],
            ["session_id", "session-7"],
            ["token_usage", { "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150 }],
        ])
    );
    let ask = bench.services.asks.lock().expect("the lock is not poisoned").remove(0);
    assert_eq!(
        (ask.system_context.as_deref(), ask.session, ask.max_recursion_depth),
        (Some("Be brief."), None, 3)
    );
    assert!(ask.filter.tools_exclude && !ask.filter.blocks_exclude && !ask.dry_run);
    bench.failure("AutoPilotBlock", json!({ "prompt": " " })).await;
}

fn market() -> Bench {
    let bench = Bench::new();
    *bench.marketplace.listings.lock().expect("the lock is not poisoned") = vec![
        listing("mail", "Summarize my e-mail", "Writes a digest of new messages.", 5),
        listing("tide", "Tide table", "Shows the times of high tide.", 9),
    ];
    bench
}

#[tokio::test]
async fn the_marketplace_is_searched_with_the_best_match_first() {
    let bench = market();
    let found = bench
        .run("SearchStoreAgentsBlock", json!({ "query": "mail summary" }))
        .await
        .expect("outputs");
    assert_eq!(found[0].1[0]["slug"], "mail");
    assert_eq!(found[1], ("total_count".to_owned(), json!(1)));
    assert_eq!(found[2].0, "agent");
    let popular =
        bench.run("SearchStoreAgentsBlock", json!({ "sort_by": "runs", "limit": 1 })).await;
    let popular = popular.expect("outputs");
    assert_eq!((&popular[0].1[0]["slug"], &popular[1].1), (&json!("tide"), &json!(2)));
    let none = bench.run("SearchStoreAgentsBlock", json!({ "category": "marketing" })).await;
    assert_eq!(pins(&none.expect("outputs")), json!([["agents", []], ["total_count", 0]]));
}

#[tokio::test]
async fn a_marketplace_agent_is_added_to_the_library_once() {
    let bench = market();
    let details = json!({ "creator": "ada", "slug": "tide" });
    let details = bench.run("GetStoreAgentDetailsBlock", details).await.expect("outputs");
    assert_eq!(details[0].1, json!(true));
    let version = details[1].1.clone();
    let add = json!({ "store_listing_version_id": version, "agent_name": "My tides" });
    let dry = BlockContext { dry_run: true, ..bench.context() };
    assert!(bench.run_in(dry, "AddToLibraryFromStoreBlock", add.clone()).await.is_err());
    let first = bench.run("AddToLibraryFromStoreBlock", add.clone()).await.expect("outputs");
    let second = bench.run("AddToLibraryFromStoreBlock", add).await.expect("outputs");
    assert_eq!(first[..5], second[..5]);
    assert_eq!((&first[2].1, &first[4].1), (&json!("graph-tide"), &json!("My tides")));
    let unknown = json!({ "store_listing_version_id": "nothing" });
    bench.failure("AddToLibraryFromStoreBlock", unknown).await;
    let listed = bench.run("ListLibraryAgentsBlock", json!({ "search_query": "tides" })).await;
    let listed = listed.expect("outputs");
    assert_eq!(listed[0].1[0]["agent_name"], "My tides");
    assert_eq!(pins(&listed[1..4]), json!([["total_count", 1], ["page", 1], ["total_pages", 1]]));
}
