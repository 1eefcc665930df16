//! Rehearsals: an agent runs without touching anything outside, and the report says what that proves.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use super::building::TIDES;
use crate::agent_fixtures::{ApiUser, text};
use crate::server::TestServer;

/// Reads a page and writes a letter about it with a model; neither may be asked.
const OUTSIDE: &str = r#"
name: Letter about a page
inputs: {page: {type: string, default: "https://example.com/tides"}}
steps:
  fetch: {block: Send Web Request, url: inputs.page}
  write: {block: AI Text Generator, prompt: "A letter about {{fetch.response}}"}
  wait: {block: Countdown Timer, input_message: write.response, hours: 5}
outputs: {letter: wait.output_message, problem: fetch.error}
"#;

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(text).collect()
}

#[tokio::test]
async fn an_agent_without_effects_is_verified_by_its_rehearsal() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let body = json!({"spec": TIDES, "inputs": {"height": 4}});
    let report = user.post("/agents/rehearse", &body).await;
    assert_eq!(report["state"], "verified", "{report}");
    assert_eq!(report["outputs"]["report"], json!(["Vlissingen: 5 m"]));
    assert_eq!((&report["unfilled"], &report["failed"]), (&json!([]), &json!([])));
    assert_eq!(user.get("/library/agents").await["agents"], json!([]), "nothing is saved");

    // A low tide rings no alarm: that output stays empty, and the branch is reported.
    let body = json!({"spec": TIDES, "inputs": {"height": 1}});
    let report = user.post("/agents/rehearse", &body).await;
    assert_eq!(report["state"], "valid");
    assert_eq!(report["unfilled"], json!(["alarm"]));

    // Absent inputs are made up, the same ones each time.
    let first = user.post("/agents/rehearse", &json!({"spec": TIDES, "seed": 7})).await;
    let again = user.post("/agents/rehearse", &json!({"spec": TIDES, "seed": 7})).await;
    assert!(first["made_inputs"]["height"].is_number(), "{first}");
    assert_eq!(first["made_inputs"], again["made_inputs"]);
    assert_eq!(first["outputs"], again["outputs"]);
}

#[tokio::test]
async fn blocks_that_would_reach_outside_are_answered_for() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let report = user.post("/agents/rehearse", &json!({"spec": OUTSIDE, "fail_each": true})).await;
    let answered: Vec<_> = report["answered"].as_array().expect("a list").iter().collect();
    let by: Vec<_> = answered.iter().map(|step| (text(&step["step"]), text(&step["by"]))).collect();
    assert_eq!(by, [("fetch", "sample"), ("write", "sample")], "{report}");
    assert!(strings(&report["nodes_fired"]).contains(&"wait"), "five hours are not waited for");
    assert_eq!(report["outputs"]["letter"].as_array().expect("a letter").len(), 1);
    let failures = report["failures"].as_array().expect("one for each effect");
    let without: Vec<_> =
        failures.iter().map(|one| (text(&one["step"]), strings(&one["unfilled"]))).collect();
    assert_eq!(without, [("fetch", vec!["letter"]), ("write", vec!["letter", "problem"])]);

    let pinned = json!({"write": {"response": "Dear harbor master"}});
    let body = json!({"spec": OUTSIDE, "pinned": pinned});
    let report = user.post("/agents/rehearse", &body).await;
    assert_eq!(report["outputs"]["letter"], json!(["Dear harbor master"]));
    let unknown = json!({"spec": OUTSIDE, "pinned": {"nobody": {}}});
    let refused = user.refused(Method::POST, "/agents/rehearse", &unknown).await;
    assert_eq!(refused, (422, "VALIDATION_ERROR".to_owned()));
}

#[tokio::test]
async fn a_stored_agent_is_rehearsed_as_an_execution_that_can_be_read() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": OUTSIDE})).await;
    let report = user.post("/agents/rehearse", &json!({"graph_id": id})).await;
    let execution = text(&report["execution_id"]);
    let run = user.get(&format!("/graphs/{id}/executions/{execution}")).await;
    assert_eq!(run["stats"]["is_dry_run"], true, "{run}");
    assert_eq!(run["stats"]["cost"], 0);
}
