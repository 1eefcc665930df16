//! Executions that wait for a review: without a worker, across a crash, and continued according to the decision.

use serde_json::{Value, json};

use super::ENGINE;
use super::execution_fixtures::{
    CALCULATE, COMPARE, GraphBuilder, HUMAN, StartedExecution, WEB_REQUEST, decide,
    node_execution_of, node_executions_of, pending,
};
use crate::server::{TestServer, json_of, refusal};

#[tokio::test]
async fn an_execution_waits_for_a_review_and_continues_as_decided() {
    let mut server = TestServer::with(ENGINE, &[("EXECUTION_SLOTS", "1")]);
    let agent = GraphBuilder::default()
        .node("pay", HUMAN, json!({"name": "Pay this?", "data": {"amount": 30}}))
        .node("send", HUMAN, json!({"name": "Send this?", "data": "Dear all", "editable": false}))
        .node("sum", CALCULATE, json!({"operation": "Add", "a": 1, "b": 2, "round_result": true}))
        .output("paid", "pay.approved_data")
        .output("unpaid", "pay.rejected_data")
        .output("unsent", "send.rejected_data")
        .output("why", "send.review_message")
        .output("sum", "sum.result");
    let agent = agent.save(&server, "Careful").await;
    let run = agent.start(&server).await;
    let rests = run.settled(&server).await;
    assert_eq!((&rests["status"], &rests["outputs"]), (&json!("REVIEW"), &json!({"sum": [3]})));
    assert_eq!(node_execution_of(&rests, "pay")["status"], "REVIEW");
    // The only worker is free meanwhile.
    quick().save(&server, "Quick").await.start(&server).await.completed(&server).await;

    server.kill9();
    server.restart();
    assert_eq!(run.status(&server).await, "REVIEW");
    let asked = pending(&server).await;
    let of = |instructions: &str| {
        let found = asked.iter().find(|review| review["instructions"] == instructions);
        found.unwrap_or_else(|| panic!("{instructions} in {asked:?}")).clone()
    };
    let (pay, send) = (of("Pay this?"), of("Send this?"));
    assert_eq!((&pay["payload"], &pay["graph_exec_id"]), (&json!({"amount": 30}), &json!(run.id)));
    let (pay, send) = (&pay["node_exec_id"], &send["node_exec_id"]);

    let edited = json!([{"node_exec_id": send, "approved": true, "reviewed_data": "Dear nobody"}]);
    assert_eq!(decide(&server, edited).await.status(), 400, "it may not be edited");
    let approval =
        json!([{"node_exec_id": pay, "approved": true, "reviewed_data": {"amount": 25}}]);
    let taken = json_of(decide(&server, approval.clone()).await).await;
    assert_eq!((&taken["approved_count"], &taken["rejected_count"]), (&json!(1), &json!(0)));
    assert_eq!(run.status(&server).await, "REVIEW", "one review is open");
    let again = refusal(decide(&server, approval).await).await;
    assert_eq!(again, (409, "REVIEW_ALREADY_DECIDED".to_owned()));
    let rejection = json!([{"node_exec_id": send, "approved": false, "message": "Too short."}]);
    json_of(decide(&server, rejection.clone()).await).await;

    let ended = run.completed(&server).await;
    let outputs = json!({
        "sum": [3], "paid": [{"amount": 25}], "unsent": ["Dear all"], "why": ["Too short."],
    });
    assert_eq!(ended["outputs"], outputs);
    assert_eq!(decide(&server, rejection).await.status(), 409);
    let unknown = decide(&server, json!([{"node_exec_id": "nobody's", "approved": true}])).await;
    assert_eq!(refusal(unknown).await, (404, "REVIEW_NOT_FOUND".to_owned()));
    let path = format!("/review/execution/{}", run.id);
    let told = json_of(server.get(&path).send().await.expect("an answer")).await;
    let statuses: Vec<&Value> =
        told.as_array().expect("a list").iter().map(|review| &review["status"]).collect();
    assert!(statuses.len() == 2 && statuses.iter().all(|status| *status != "WAITING"), "{told}");
}

#[tokio::test]
async fn an_approval_for_the_rest_of_an_execution_is_requested_once() {
    let server = TestServer::start(ENGINE);
    // Each iteration asks before the next one starts.
    let agent = GraphBuilder::default()
        .input("first", json!(1))
        .node("ask", HUMAN, json!({"name": "Go on?"}))
        .node("next", CALCULATE, json!({"operation": "Add", "b": 1, "round_result": true}))
        .node("more", COMPARE, json!({"operator": "<=", "value2": 3}))
        .link("first.result", "ask.data")
        .link("ask.approved_data", "next.a")
        .link("next.result", "more.value1")
        .link("more.yes_output", "ask.data")
        .output("approved", "ask.approved_data");
    let agent = agent.save(&server, "Loop").await;

    let run = agent.start(&server).await;
    let review = only_review(&server, &run, 1).await;
    decide(&server, json!([{"node_exec_id": review, "approved": true}])).await;
    let review = only_review(&server, &run, 2).await;
    let for_good = json!([{"node_exec_id": review, "approved": true, "auto_approve_future": true}]);
    assert_eq!(decide(&server, for_good).await.status(), 200);
    let ended = run.completed(&server).await;
    assert_eq!(ended["outputs"], json!({"approved": [1, 2, 3]}));
    assert_eq!(node_executions_of(&ended, "ask").len(), 3);
    assert!(pending(&server).await.is_empty());
    // The approval applies to that execution, not to the agent.
    let other = agent.start(&server).await;
    only_review(&server, &other, 1).await;
}

#[tokio::test]
async fn a_block_with_side_effects_asks_for_review_when_safe_mode_is_on() {
    let server = TestServer::start(ENGINE);
    let agent = GraphBuilder::default()
        .node(
            "send",
            WEB_REQUEST,
            json!({"url": "http://127.0.0.1/", "method": "POST", "body": {"a": 1}}),
        )
        .output("failed", "send.error");
    let agent = agent.save(&server, "Sending").await;
    // By default no review is requested; the block's own restrictions still apply.
    let ended = agent.start(&server).await.completed(&server).await;
    assert!(
        ended["outputs"]["failed"][0].as_str().is_some_and(|why| why.contains("public internet")),
        "{ended}"
    );

    let settings = server.client.patch(server.api(&format!("/graphs/{}/settings", agent.id)));
    let settings = settings.json(&json!({"sensitive_action_safe_mode": true}));
    assert_eq!(settings.send().await.expect("an answer").status(), 200);
    let run = agent.start(&server).await;
    assert_eq!(run.settled(&server).await["status"], "REVIEW");
    let asked = pending(&server).await.remove(0);
    assert_eq!(asked["payload"]["url"], "http://127.0.0.1/");
    let rejection = json!([{"node_exec_id": asked["node_exec_id"], "approved": false, "message": "Not today."}]);
    json_of(decide(&server, rejection).await).await;
    let ended = run.completed(&server).await;
    assert_eq!(ended["outputs"]["failed"], json!(["A person has rejected this: Not today."]));
    assert_eq!(node_execution_of(&ended, "send")["status"], "FAILED");
}

/// The node execution id of this execution's only review, after checking its payload.
async fn only_review(server: &TestServer, run: &StartedExecution, payload: u32) -> Value {
    assert_eq!(run.settled(server).await["status"], "REVIEW");
    let asked = pending(server).await;
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(
        (&asked[0]["payload"], &asked[0]["graph_exec_id"]),
        (&json!(payload), &json!(run.id))
    );
    asked[0]["node_exec_id"].clone()
}

fn quick() -> GraphBuilder {
    GraphBuilder::default()
        .node("sum", CALCULATE, json!({"operation": "Add", "a": 1, "b": 2}))
        .output("sum", "sum.result")
}
