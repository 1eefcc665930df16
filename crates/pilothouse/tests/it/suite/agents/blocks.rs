//! The block catalog of the API, and single blocks run without a graph.

use std::collections::HashSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use crate::agent_fixtures::{
    AGENT, AI_TEXT, ApiUser, CALCULATOR, HUMAN, INPUT, OUTPUT, TEMPLATE, UNKNOWN_ID, read, text,
};
use crate::server::TestServer;

#[tokio::test]
async fn every_block_used_by_agent_files_is_listed_with_its_pins_and_costs() {
    let server = TestServer::start(ENGINE);
    let listed = ApiUser::local(&server).get("/blocks").await;
    let listed = listed.as_array().expect("a list");
    let ids: HashSet<&str> = listed.iter().map(|block| text(&block["id"])).collect();
    assert_eq!(ids.len(), listed.len(), "no id is used twice");
    for (id, name) in read("blocks.json").as_object().expect("ids and names") {
        let block = listed.iter().find(|block| block["id"] == id.as_str());
        let block = block.unwrap_or_else(|| panic!("{name} ({id}) is not there"));
        assert_eq!(&block["name"], name);
    }
    for block in listed {
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(block[schema]["type"], "object", "{block}");
            assert!(block[schema]["properties"].is_object(), "{block}");
        }
        assert!(!text(&block["description"]).is_empty());
        let categories = block["categories"].as_array().expect("a list");
        let name = text(&block["name"]);
        let asks_a_model = categories.iter().any(|one| one["category"] == "AI")
            && (name.starts_with("AI") || name == "OrchestratorBlock");
        let costs = block["costs"].as_array().expect("a list");
        assert_eq!(asks_a_model, !costs.is_empty(), "{block}");
    }
    let of = |id: &str| listed.iter().find(|block| block["id"] == id).expect("a block");
    let cost = json!([{"cost_type": "tokens", "cost_amount": 1, "per": 1000}]);
    assert_eq!(of(AI_TEXT)["costs"], cost);
    assert_eq!(of(CALCULATOR)["inputSchema"]["required"], json!(["operation", "a", "b"]));
    assert_eq!((&of(INPUT)["uiType"], &of(INPUT)["staticOutput"]), (&json!("Input"), &json!(true)));
}

#[tokio::test]
async fn a_single_block_returns_its_outputs_and_refuses_invalid_input() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let run = |block: &str| format!("/blocks/{block}/execute");
    let sum = json!({"operation": "Add", "a": "1.5", "b": 2});
    assert_eq!(user.post(&run(CALCULATOR), &sum).await, json!({"result": [3.5]}));
    let nested = json!({"format": "{{ a.b }}", "values_#_a_#_b": "deep"});
    assert_eq!(user.post(&run(TEMPLATE), &nested).await, json!({"output": ["deep"]}));
    let zero = user.post(&run(CALCULATOR), &json!({"operation": "Divide", "a": 1, "b": 0})).await;
    assert!(text(&zero["error"][0]).contains("zero"), "a failure is an output: {zero}");

    let invalid = (422, "VALIDATION_ERROR".to_owned());
    for bad in [
        json!({"operation": "Add", "a": 1}),
        json!({"operation": "Guess", "a": 1, "b": 2}),
        json!({"operation": "Add", "a": "many", "b": 2}),
        json!([1, 2]),
    ] {
        assert_eq!(user.refused(Method::POST, &run(CALCULATOR), &bad).await, invalid, "{bad}");
    }
    let (_, told) = user.call(Method::POST, &run(CALCULATOR), &json!({"operation": "Add"})).await;
    assert!(text(&told["detail"]).contains('a'), "the error names the missing field: {told}");
    for block in [AGENT, HUMAN, INPUT, OUTPUT] {
        let refused = user.refused(Method::POST, &run(block), &json!({})).await;
        assert_eq!(refused, (403, "GRAPH_ONLY_BLOCK".to_owned()), "{block}");
    }
    let refused = user.refused(Method::POST, &run(UNKNOWN_ID), &json!({})).await;
    assert_eq!(refused, (404, "BLOCK_NOT_FOUND".to_owned()));
    assert_eq!(user.refused(Method::POST, &run(CALCULATOR), &Value::Null).await.0, 415);
}
