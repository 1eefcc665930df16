//! The copilot runs single blocks: it gets their inputs first, asks for a review before side effects, and cannot run
//! denied blocks.

use serde_json::{Value, json};

use super::execution_fixtures::{CALCULATE, GraphBuilder, WEB_REQUEST, decide, pending, text};
use super::tools_copilot::Copilot;
use crate::server::json_of;

/// `SendAuthenticatedWebRequestBlock`
const AUTHENTICATED: &str = "fff86bcd-e001-4bad-a7f6-2eae4720c8dc";
const AUTHENTICATED_NAME: &str = "SendAuthenticatedWebRequestBlock";

#[tokio::test]
async fn a_block_lists_its_inputs_before_it_runs() {
    let copilot = Copilot::start().await;
    let found = copilot.call("find_block", json!({"query": "calculator"})).await;
    let id = text(&found["blocks"][0]["id"]);
    assert_eq!(id, CALCULATE, "{found}");
    let needs = copilot.call("run_block", json!({"block_id": id})).await;
    assert_eq!(needs["type"], "block_details", "{needs}");
    assert!(needs["block"]["inputs"]["properties"]["operation"].is_object(), "{needs}");
    let input = json!({"operation": "Add", "a": 40, "b": 2, "round_result": true});
    let ran = copilot.call("run_block", json!({"block_id": id, "input_data": input})).await;
    assert_eq!(ran["outputs"], json!({"result": [42]}), "{ran}");
    let broken = json!({"operation": "Divide", "a": 1, "b": 0});
    let failed = copilot.call("run_block", json!({"block_id": id, "input_data": broken})).await;
    assert_eq!(failed["error"], "block_failed", "{failed}");
    let alien = json!({"operation": "Add", "a": 1, "b": 0, "color": "red"});
    let refused = copilot.call("run_block", json!({"block_id": id, "input_data": alien})).await;
    assert_eq!(refused["unrecognized_fields"], json!(["color"]), "{refused}");
    copilot.setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_block_with_side_effects_runs_once_it_is_approved() {
    let copilot = Copilot::start().await;
    let server = &copilot.setup.server;
    let wish = json!({
        "block_id": WEB_REQUEST,
        "input_data": {"url": "https://192.168.0.1/order", "method": "POST", "body": {"amount": 30}},
    });
    let asks = copilot.call("run_block", wish.clone()).await;
    assert_eq!(asks["type"], "review_required", "{asks}");
    let go_on = json!({"review_id": asks["review_id"]});
    let early = copilot.call("continue_run_block", go_on.clone()).await;
    assert_eq!(early["error"], "review_waiting", "{early}");

    let review = pending(server).await.remove(0);
    assert_eq!(review["node_exec_id"], asks["review_id"]);
    assert_eq!(review["payload"]["body"], json!({"amount": 30}));
    // Neither URL works, and each fails with a message of its own, which shows the one that was used.
    let mut edited = review["payload"].clone();
    edited["url"] = json!("no-url");
    let approval =
        json!([{"node_exec_id": asks["review_id"], "approved": true, "reviewed_data": edited}]);
    json_of(decide(server, approval).await).await;
    let ran = copilot.call("continue_run_block", go_on.clone()).await;
    assert_eq!(ran["error"], "block_failed", "{ran}");
    assert!(
        text(&ran["message"]).contains("not a complete URL"),
        "it ran with what was approved: {ran}"
    );
    assert_eq!(
        copilot.call("continue_run_block", go_on).await,
        ran,
        "a repeated call returns the same"
    );

    // A new call requests a new review.
    let asks = copilot.call("run_block", wish).await;
    let rejection =
        json!([{"node_exec_id": asks["review_id"], "approved": false, "message": "Never."}]);
    json_of(decide(server, rejection).await).await;
    let refused = copilot.call("continue_run_block", json!({"review_id": asks["review_id"]})).await;
    assert_eq!(refused["error"], "review_rejected", "{refused}");
    assert!(text(&refused["message"]).contains("Never."), "{refused}");
    copilot.setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_denied_block_is_not_found_and_not_run_alone_or_in_an_agent() {
    let copilot = Copilot::with(&[], json!({"blocks": ["CalculatorBlock"]})).await;
    let agent = GraphBuilder::default()
        .node("sum", CALCULATE, json!({"operation": "Add", "a": 1, "b": 2}))
        .output("sum", "sum.result");
    let server = &copilot.setup.server;
    let agent = agent.save(server, "Sum").await;

    for query in ["calculator", CALCULATE] {
        let found = copilot.call("find_block", json!({"query": query})).await;
        let blocks = found["blocks"].as_array().cloned().unwrap_or_default();
        assert!(blocks.iter().all(|block| block["id"] != CALCULATE), "{found}");
    }
    let input = json!({"operation": "Add", "a": 40, "b": 2});
    let ran = copilot.call("run_block", json!({"block_id": CALCULATE, "input_data": input})).await;
    assert_eq!(ran["error"], "permission_denied", "{ran}");
    let entry = server.get(&format!("/library/agents/by-graph/{}", agent.id));
    let entry = json_of(entry.send().await.expect("an answer")).await;
    let ran =
        copilot.call("run_agent", json!({"library_agent_id": entry["id"], "wait_for_result": 60}));
    let ran = ran.await;
    assert_eq!(ran["error"], "permission_denied", "{ran}");
    let runs = json_of(server.get("/executions").send().await.expect("an answer")).await;
    assert_eq!(runs, Value::Array(Vec::new()), "nothing was started");
    // The permissions restrict the copilot only, not the user's own requests.
    agent.start(server).await.completed(server).await;
    copilot.setup.model.assert_no_violations();
}

#[tokio::test]
async fn missing_credentials_are_reported_before_anything_runs() {
    let copilot = Copilot::start().await;
    let wish = json!({"block_id": AUTHENTICATED, "input_data": {"url": "https://a.example/"}});
    let told = copilot.call("run_block", wish).await;
    assert_eq!(told["type"], "setup_requirements", "{told}");
    let readiness = &told["setup_info"]["user_readiness"];
    assert_eq!((&readiness["ready_to_run"], &told["graph_id"]), (&json!(false), &Value::Null));
    assert_eq!(readiness["missing_credentials"]["http"]["needed_by"], json!([AUTHENTICATED_NAME]));

    let agent = GraphBuilder::default()
        .node("ask", AUTHENTICATED, json!({"url": "https://a.example/"}))
        .output("answer", "ask.response");
    let server = &copilot.setup.server;
    let agent = agent.save(server, "Asker").await;
    let entry = server.get(&format!("/library/agents/by-graph/{}", agent.id));
    let entry = json_of(entry.send().await.expect("an answer")).await;
    let wish = json!({"library_agent_id": entry["id"], "use_defaults": true});
    let told = copilot.call("run_agent", wish).await;
    assert_eq!(told["type"], "setup_requirements", "{told}");
    assert_eq!((&told["graph_id"], &told["graph_version"]), (&json!(agent.id), &json!(1)));
    let info = &told["setup_info"];
    assert_eq!(info["agent_name"], "Asker");
    assert_eq!(info["requirements"]["credentials"][0]["provider"], "http");
    let runs = json_of(server.get("/executions").send().await.expect("an answer")).await;
    assert_eq!(runs, json!([]), "nothing was run");
    copilot.setup.model.assert_no_violations();
}
