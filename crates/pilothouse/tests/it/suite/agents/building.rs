//! Agents as specs: compiled, written back, saved as drafts and versions.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use crate::agent_fixtures::{ApiUser, adder, graph, text};
use crate::server::TestServer;

pub(crate) const TIDES: &str = r#"
name: Morning tides
inputs:
  harbor: {type: string, default: Vlissingen}
  height: number
steps:
  greet: {block: Fill Text Template, format: "{{harbor}}: {{high.result}} m"}
  high: {block: Calculator, operation: Add, a: inputs.height, b: 1, round_result: true}
  check: {block: Condition, value1: high.result, operator: ">", value2: 3, yes_value: "Alarm in {{harbor}}"}
outputs: {report: greet.output, alarm: check.yes_output}
"#;

#[tokio::test]
async fn a_spec_becomes_an_agent_that_runs_and_is_written_as_the_same_spec() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let compiled = user.post("/agents/compile", &json!({"spec": TIDES})).await;
    let again = user.post("/agents/compile", &json!({"spec": TIDES})).await;
    assert_eq!(compiled, again, "the same spec gives the same graph");

    let id = user.make(&json!({"spec": TIDES})).await;
    let outputs = user.outputs(&id, &json!({"height": 4})).await;
    assert_eq!(outputs, json!({"report": ["Vlissingen: 5 m"], "alarm": ["Alarm in Vlissingen"]}));

    let written = user.post("/agents/decompile", &json!({"graph_id": id})).await;
    let other =
        user.post("/agents/decompile", &json!({"agent_json": compiled["agent_json"]})).await;
    assert_eq!(written, other);
    let spec = text(&written["spec"]);
    let twice = user.post("/agents/decompile", &json!({"spec": spec})).await;
    assert_eq!(twice["spec"], spec, "{spec}");

    let changed = spec.replace("b: 1", "b: 2");
    let put = user.done(Method::PUT, &format!("/graphs/{id}"), &json!({"spec": changed})).await;
    assert_eq!(put["version"], 2);
    let first = user.get(&format!("/graphs/{id}/versions/1")).await;
    let ids = |graph: &Value| -> Vec<String> {
        let nodes = graph["nodes"].as_array().expect("nodes").iter();
        let mut ids: Vec<String> = nodes.map(|node| text(&node["id"]).to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&first), ids(&put), "steps keep their ids");
    let outputs = user.outputs(&id, &json!({"height": 4, "harbor": "Brest"})).await;
    assert_eq!(outputs["report"], json!(["Brest: 6 m"]));
}

#[tokio::test]
async fn a_spec_with_mistakes_names_each_of_them() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let spec = json!({
        "name": "Mistakes",
        "inputs": {"harbor": "strng"},
    });
    let (status, answer) = user.call(Method::POST, "/agents/compile", &json!({"spec": spec})).await;
    assert_eq!((status, &answer["code"]), (400, &json!("INVALID_GRAPH")));
    assert_eq!(answer["errors"][0]["code"], "unknown_type");
    assert_eq!(answer["errors"][0]["path"], "inputs.harbor.type");

    let spec = json!({
        "name": "Mistakes",
        "inputs": {"harbor": "string"},
        "steps": {
            "page": {"block": "Send Web Reqest", "url": "inputs.harbour"},
            "high": {"block": "AI Text Generator", "prompt": "pge.response"},
        },
    });
    let (_, answer) = user.call(Method::POST, "/agents/compile", &json!({"spec": spec})).await;
    let errors = answer["errors"].as_array().expect("errors");
    let found: Vec<_> =
        errors.iter().map(|error| (text(&error["code"]), text(&error["path"]))).collect();
    assert_eq!(
        found,
        [("unknown_block", "steps.page.block"), ("unknown_reference", "steps.page.url")]
    );
    assert!(text(&errors[0]["expected"]).contains("Send Web Request"), "{}", errors[0]);
    assert_eq!(errors[1]["expected"], "inputs.harbor");

    for (body, code) in [
        (json!({}), "VALIDATION_ERROR"),
        (json!({"spec": TIDES, "graph_id": "x"}), "VALIDATION_ERROR"),
        (json!({"agent_json": {"nodes": 3}}), "VALIDATION_ERROR"),
        (json!({"spec": "a: [1, 2"}), "INVALID_GRAPH"),
        (json!({"spec": "a: &x [*x, *x]"}), "INVALID_GRAPH"),
        (json!({"spec": "- ".repeat(500)}), "INVALID_GRAPH"),
        (json!({"graph_id": "nowhere"}), "GRAPH_NOT_FOUND"),
    ] {
        let (status, refused) = user.call(Method::POST, "/agents/compile", &body).await;
        assert!((400..500).contains(&status), "{body}: {status}");
        assert_eq!(refused["code"], code, "{body}: {refused}");
    }
}

#[tokio::test]
async fn a_draft_is_saved_beside_what_runs() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let broken = graph("Broken", &[("x", "00000000-0000-0000-0000-000000000000", json!({}))], &[]);
    assert_eq!(user.refused(Method::POST, "/graphs", &broken).await.1, "INVALID_GRAPH");
    let draft = user.post("/graphs?draft=true", &broken).await;
    let path = format!("/graphs/{}", text(&draft["id"]));
    let start = user.refused(Method::POST, &format!("{path}/execute"), &json!({})).await;
    assert_eq!(start.1, "INVALID_GRAPH", "a draft does not run");

    let id = user.make(&adder("Adder", 10)).await;
    let path = format!("/graphs/{id}");
    let saved = user.done(Method::PUT, &format!("{path}?draft=true&base_version=1"), &broken).await;
    assert_eq!((&saved["version"], &saved["is_active"]), (&json!(2), &json!(false)));
    assert_eq!(user.get(&path).await["version"], 1, "what runs stays");
    assert_eq!(user.outputs(&id, &json!({"n": 1})).await, json!({"sum": [11]}));

    let stale = format!("{path}?base_version=1");
    let (status, answer) = user.call(Method::PUT, &stale, &adder("Late", 5)).await;
    assert_eq!((status, &answer["code"]), (409, &json!("STALE_VERSION")));
    assert_eq!(answer["newest_version"], 2);
    let newest = format!("{path}?base_version=2");
    assert_eq!(user.done(Method::PUT, &newest, &adder("In time", 5)).await["version"], 3);
}
