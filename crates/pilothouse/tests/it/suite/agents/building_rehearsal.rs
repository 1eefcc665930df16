//! Rehearsals: an agent runs without touching anything outside, and the report says what that proves.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use super::building::TIDES;
use super::tools_copilot::Copilot;
use crate::agent_fixtures::{ApiUser, UNKNOWN_ID, names, text};
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

    // A low tide rings no alarm, so another run tries a higher one. What is reported is the run that was asked for.
    let body = json!({"spec": TIDES, "inputs": {"height": 1}});
    let report = user.post("/agents/rehearse", &body).await;
    assert_eq!(report["outputs"], json!({"report": ["Vlissingen: 2 m"]}), "{report}");
    assert_eq!((&report["state"], &report["unfilled"]), (&json!("verified"), &json!([])));
    let runs = report["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2, "{report}");
    assert_eq!(runs[0]["execution_id"], report["execution_id"]);
    assert_eq!((&runs[0]["varied"], &runs[0]["filled"]), (&json!([]), &json!(["report"])));
    assert_eq!(runs[1]["varied"], json!([{"kind": "input", "name": "height", "value": 4}]));
    assert_eq!(runs[1]["filled"], json!(["alarm"]));

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
    assert_eq!(without, [("fetch", vec!["letter"]), ("write", vec!["letter"])]);
    // The failing page is what fills the other output.
    assert_eq!((&report["unfilled"], &report["state"]), (&json!([]), &json!("rehearsed")));
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(1), "{report}");

    let pinned = json!({"write": {"response": "Dear harbor master"}});
    let body = json!({"spec": OUTSIDE, "pinned": pinned});
    let report = user.post("/agents/rehearse", &body).await;
    assert_eq!(report["outputs"]["letter"], json!(["Dear harbor master"]));
    let unknown = json!({"spec": OUTSIDE, "pinned": {"nobody": {}}});
    let refused = user.refused(Method::POST, "/agents/rehearse", &unknown).await;
    assert_eq!(refused, (422, "VALIDATION_ERROR".to_owned()));
}

#[tokio::test]
async fn an_earlier_execution_answers_for_its_steps() {
    let server = jwt_server(&[]);
    let (anna, ben) = (ApiUser::named(&server, "anna"), ApiUser::named(&server, "ben"));
    let id = anna.make(&json!({"spec": OUTSIDE})).await;
    let pinned = json!({"fetch": {"response": "High at noon"}, "write": {"response": "Dear crew"}});
    let body =
        json!({"graph_id": id, "pinned": pinned, "inputs": {"page": "https://example.com/noon"}});
    let recorded = anna.post("/agents/rehearse", &body).await;
    let recording = &recorded["execution_id"];
    let body = json!({"graph_id": id, "recording": recording});
    let report = anna.post("/agents/rehearse", &body).await;
    let by = names(&report["answered"], "by");
    assert_eq!(by, ["recording", "recording"], "{report}");
    assert_eq!(report["outputs"]["letter"], json!(["Dear crew"]), "{report}");
    let execution = text(&report["execution_id"]);
    let run = anna.get(&format!("/graphs/{id}/executions/{execution}")).await;
    assert_eq!(run["inputs"]["page"], "https://example.com/noon", "{run}");

    // Pinned outputs come first.
    let body =
        json!({"graph_id": id, "recording": recording, "pinned": {"write": {"response": "Hello"}}});
    let report = anna.post("/agents/rehearse", &body).await;
    assert_eq!(names(&report["answered"], "by"), ["recording", "pinned"], "{report}");
    assert_eq!(report["outputs"]["letter"], json!(["Hello"]));

    // Neither other users nor other agents have it.
    let not_found = (404, "EXECUTION_NOT_FOUND".to_owned());
    let other = anna.make(&json!({"spec": TIDES})).await;
    let of_ben = ben.make(&json!({"spec": OUTSIDE})).await;
    for (user, agent, recording) in [
        (&anna, &other, recording.clone()),
        (&anna, &id, json!(UNKNOWN_ID)),
        (&ben, &of_ben, recording.clone()),
    ] {
        let body = json!({"graph_id": agent, "recording": recording});
        assert_eq!(user.refused(Method::POST, "/agents/rehearse", &body).await, not_found);
    }
}

/// Reads two files, one of them made up and one from the web, and another one as a table.
const FILES: &str = r#"
name: Files
inputs: {chart: file, page: {type: file, default: "http://127.0.0.1:9/tides.txt"}}
steps:
  chart_text: {block: File Read, file_input: inputs.chart}
  page_text: {block: File Read, file_input: inputs.page}
  web: {block: File Read, file_input: "https://example.com/tides.txt"}
  table: {block: Read Spreadsheet, file_input: "https://example.com/tides.csv"}
  kept: {block: File Store, file_in: "https://example.com/tides.png"}
outputs: {chart: chart_text.content, page: page_text.content, web: web.content, table: table.rows, kept: kept.file_out, same: inputs.chart}
"#;

#[tokio::test]
async fn files_are_made_up_or_answered_for() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let report = user.post("/agents/rehearse", &json!({"spec": FILES})).await;
    assert_eq!(
        (&report["state"], &report["failed"]),
        (&json!("rehearsed"), &json!([])),
        "{report}"
    );
    assert_eq!(report["outputs"]["chart"], json!(["name,amount\nSample,1\n"]));
    let mut answered = names(&report["answered"], "step");
    answered.sort_unstable();
    assert_eq!(answered, ["kept", "page", "table", "web"], "{report}");
    let file = text(&report["outputs"]["same"][0]);
    assert!(file.starts_with("data:text/csv;base64,"), "nothing is stored: {file}");
}

#[tokio::test]
async fn dry_runs_use_the_same_answers() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": OUTSIDE})).await;
    let report = user.post("/agents/rehearse", &json!({"graph_id": id})).await;
    let body = json!({"inputs": {}, "dry_run": true});
    let started = user.post(&format!("/graphs/{id}/execute"), &body).await;
    let ended = user.wait_for(&started).await;
    assert_eq!(ended["outputs"]["letter"], report["outputs"]["letter"], "{ended}");
    assert_eq!(ended["outputs"]["problem"], Value::Null, "{ended}");

    let request = "/blocks/6595ae1f-b924-42cb-9a41-551a0611c4b4/execute?dry_run=true";
    let outputs = user.post(request, &json!({"url": "https://example.com"})).await;
    let pins: Vec<&String> = outputs.as_object().expect("outputs").keys().collect();
    assert_eq!(pins, ["response"], "a success has no outputs for errors: {outputs}");
}

#[tokio::test]
async fn a_dry_run_of_the_copilot_makes_up_the_inputs_that_are_absent() {
    let copilot = Copilot::start().await;
    let user = ApiUser::local(&copilot.setup.server);
    let id = user.make(&json!({"spec": TIDES})).await;
    let entry = user.entry(&id).await;
    let asked = json!({"library_agent_id": entry["id"], "dry_run": true, "wait_for_result": 60});
    let ran = copilot.call("run_agent", asked).await;
    assert_eq!(ran["execution"]["status"], "COMPLETED", "{ran}");
    let report = user.post("/agents/rehearse", &json!({"graph_id": id})).await;
    assert_eq!(ran["execution"]["outputs"], report["outputs"], "{ran}");
}

#[tokio::test]
async fn nothing_is_sent_to_the_addresses_of_an_agent() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let spec = format!(
        r#"
name: Everything outside
steps:
  get: {{block: Send Web Request, url: "http://{address}/get"}}
  post: {{block: Send Web Request, url: "http://{address}/post", method: POST}}
  feed: {{block: Read RSS Feed, rss_url: "http://{address}/feed", run_continuously: false}}
  file: {{block: File Read, file_input: "http://{address}/file"}}
  store: {{block: File Store, file_in: "http://{address}/store"}}
  table: {{block: Read Spreadsheet, file_input: "http://{address}/table"}}
  tool: {{block: MCP Tool, server_url: "http://{address}/mcp", selected_tool: find}}
outputs: {{get: get.response, post: post.response, entry: feed.entry, file: file.content, store: store.file_out, table: table.rows, tool: tool.result}}
"#
    );
    let report = user.post("/agents/rehearse", &json!({"spec": spec, "fail_each": true})).await;
    assert_eq!(
        (&report["state"], &report["unfilled"]),
        (&json!("rehearsed"), &json!([])),
        "{report}"
    );
    assert_eq!(report["answered"].as_array().map(Vec::len), Some(7), "{report}");
    // A connection would be waiting by now: every run has ended.
    let visited = futures::FutureExt::now_or_never(listener.accept());
    assert!(visited.is_none(), "{visited:?}");
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
