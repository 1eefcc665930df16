//! Agents that run other agents.

use serde_json::json;

use super::ENGINE;
use super::execution_fixtures::{
    CALCULATE, GraphBuilder, HUMAN, RUN_AGENT, STEP_THROUGH, decide, node_execution_of, pending,
};
use crate::server::{TestServer, eventually, json_of};

#[tokio::test]
async fn nested_agents_need_only_one_worker() {
    // Each level waits for the one below it, and there is one worker for all of them.
    let server =
        TestServer::with(ENGINE, &[("EXECUTION_SLOTS", "1"), ("EXECUTIONS_PER_USER", "1")]);
    let doubling = GraphBuilder::default()
        .input("number", json!(0))
        .node("double", CALCULATE, json!({"operation": "Multiply", "b": 2, "round_result": true}))
        .link("number.result", "double.a")
        .output("doubled", "double.result");
    let doubling = doubling.save(&server, "Doubling").await;
    let each = GraphBuilder::default()
        .input("numbers", json!([]))
        .node("every", STEP_THROUGH, json!({}))
        .node("agent", RUN_AGENT, doubling.as_node(json!({})))
        .link("numbers.result", "every.items")
        .link("every.item", "agent.number")
        .output("all", "agent.doubled");
    let each = each.save(&server, "Doubling each").await;
    let outer = GraphBuilder::default()
        .node("agent", RUN_AGENT, each.as_node(json!({"numbers": [1, 2, 3]})))
        .node("more", CALCULATE, json!({"operation": "Add", "b": 100, "round_result": true}))
        .link("agent.all", "more.a")
        .output("results", "more.result");
    let run = outer.save(&server, "Outer").await.start(&server).await;
    let ended = run.completed(&server).await;
    assert_eq!(ended["outputs"], json!({"results": [102, 104, 106]}));
    assert_eq!(node_execution_of(&ended, "agent")["output_data"], json!({"all": [2, 4, 6]}));
    let all = json_of(server.get("/executions").send().await.expect("an answer")).await;
    let all = all.as_array().expect("a list");
    assert_eq!(all.len(), 5, "one at the top, one below it, three below that");
    assert!(all.iter().all(|run| run["status"] == "COMPLETED"));
}

#[tokio::test]
async fn a_nested_agent_that_fails_or_cannot_run_fails_its_node() {
    let server = TestServer::with(ENGINE, &[("EXECUTION_MAX_NODE_RUNS", "20")]);
    let picky = GraphBuilder::default().input("topic", json!(null)).output("said", "topic.result");
    let picky = picky.save(&server, "Picky").await;
    let endless = GraphBuilder::default()
        .node("numbers", STEP_THROUGH, json!({"items": (0..50).collect::<Vec<u32>>()}))
        .output("number", "numbers.item");
    let endless = endless.save(&server, "Endless").await;
    let outer = GraphBuilder::default()
        .node("gone", RUN_AGENT, json!({"graph_id": "no-such-agent", "graph_version": 1}))
        .node("unknown", RUN_AGENT, picky.as_node(json!({"color": "red"})))
        .node("endless", RUN_AGENT, endless.as_node(json!({})))
        .output("first", "gone.error")
        .output("second", "unknown.error")
        .output("third", "endless.error");
    let run = outer.save(&server, "Outer").await.start(&server).await;
    let ended = run.completed(&server).await;
    assert_eq!(ended["failed_nodes"].as_array().map(Vec::len), Some(3));
    for (output, why) in
        [("first", "agent was not found"), ("second", "color"), ("third", "20 node runs")]
    {
        let said = ended["outputs"][output][0].as_str().unwrap_or_default();
        assert!(said.contains(why), "{output}: {said}");
    }
}

#[tokio::test]
async fn a_nested_agent_waits_for_a_review_across_a_crash() {
    let mut server = TestServer::with(ENGINE, &[("EXECUTION_SLOTS", "1")]);
    let asking = GraphBuilder::default()
        .node("ask", HUMAN, json!({"name": "May I?", "data": "as it is"}))
        .output("allowed", "ask.approved_data");
    let asking = asking.save(&server, "Asking").await;
    let outer = GraphBuilder::default()
        .node("agent", RUN_AGENT, asking.as_node(json!({})))
        .output("allowed", "agent.allowed");
    let run = outer.save(&server, "Outer").await.start(&server).await;
    let review = eventually("a question", async || pending(&server).await.pop()).await;
    server.kill9();
    server.restart();
    assert_eq!(run.status(&server).await, "RUNNING", "only the inner execution is in review");
    let id = &review["node_exec_id"];
    let approval = json!([{"node_exec_id": id, "approved": true, "reviewed_data": "as edited"}]);
    json_of(decide(&server, approval).await).await;
    let ended = run.completed(&server).await;
    assert_eq!(ended["outputs"], json!({"allowed": ["as edited"]}));
    let all = json_of(server.get("/executions").send().await.expect("an answer")).await;
    assert_eq!(all.as_array().map(Vec::len), Some(2), "the inner execution was found again");
}
