//! Problems that keep a graph from running: reported before it runs, at the node where a person would fix them.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use crate::agent_fixtures::{
    ADD_TO_LIST, AGENT, ApiUser, CALCULATOR, INPUT, OUTPUT, STORE_VALUE, TEMPLATE, UNKNOWN_ID,
    adder, graph, text,
};
use crate::server::TestServer;

/// A valid agent with every kind of node that the table below breaks, and these additional links.
fn valid_graph(more: &[&str]) -> Value {
    let links = ["n.result -> sum.a", "start.output -> list.entry", "fill.output -> out.value"];
    graph(
        "Harbour",
        &[
            ("n", INPUT, json!({"name": "n"})),
            ("sum", CALCULATOR, json!({"operation": "Add", "b": 2})),
            ("start", STORE_VALUE, json!({"input": 1})),
            ("list", ADD_TO_LIST, json!({"list": []})),
            ("fill", TEMPLATE, json!({"values": {"a": "x"}, "format": "{{ a }}"})),
            ("out", OUTPUT, json!({"name": "out"})),
        ],
        &[&links[..], more].concat(),
    )
}

/// One node with these settings.
fn alone(block: &str, settings: Value) -> Value {
    graph("Alone", &[("a", block, settings)], &[])
}

#[tokio::test]
async fn problems_of_an_agent_are_reported_at_their_nodes() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&valid_graph(&["sum.result -> fill.values_#_a"])).await;
    let path = format!("/graphs/{id}");

    let waiting = || json!({"operation": "Add", "b": 1});
    let cycle = graph(
        "Cycle",
        &[("one", CALCULATOR, waiting()), ("two", CALCULATOR, waiting())],
        &["one.result -> two.a", "two.result -> one.a"],
    );
    let table = [
        (valid_graph(&["gone.result -> sum.b"]), "sum", "missing_node", "gone"),
        (valid_graph(&["n.result -> gone.a"]), "gone", "missing_node", "gone"),
        (valid_graph(&["sum.total -> out.value"]), "out", "unknown_output", "`total`"),
        (valid_graph(&["n.result -> sum.c"]), "sum", "unknown_input", "`c`"),
        (valid_graph(&["list.updated_list -> sum.b"]), "sum", "type_mismatch", "a list"),
        (valid_graph(&["sum.result_#_x -> out.value"]), "out", "unknown_output", "a number"),
        (valid_graph(&["n.result -> sum.b_$_0"]), "sum", "unknown_input", "a number"),
        (valid_graph(&["list.updated_list_$_x -> out.value"]), "out", "unknown_output", "_$_x"),
        (alone(UNKNOWN_ID, json!({})), "a", "unknown_block", UNKNOWN_ID),
        (alone(CALCULATOR, json!({"operation": "Add", "a": 1})), "a", "missing_input", "`b`"),
        (
            alone(CALCULATOR, json!({"operation": "Guess", "a": 1, "b": 2})),
            "a",
            "wrong_input",
            "`operation`",
        ),
        (alone(AGENT, json!({"graph_id": UNKNOWN_ID})), "a", "missing_agent", "graph_version"),
        (cycle, "one", "dead_cycle", "cycle"),
    ];
    for (wrong, node, code, word) in table {
        let refused = user.call(Method::POST, "/graphs", &wrong).await;
        let (status, body) = &refused;
        assert_eq!((*status, &body["code"]), (400, &json!("INVALID_GRAPH")), "{code}: {body}");
        let said = text(&body["node_errors"][node][code]);
        assert!(said.contains(word), "{code}: {said}");
        let mut listed = body["errors"].as_array().expect("a list").iter();
        let is_it = |one: &Value| one["node_id"] == node && one["code"] == code;
        assert!(listed.any(is_it), "{code}: {body}");
        let detail = text(&body["detail"]);
        assert!(detail.contains("can't run") || detail.contains("problems"), "{body}");
        assert_eq!(user.call(Method::PUT, &path, &wrong).await, refused, "an edit is refused too");
    }
    let empty = user.refused(Method::POST, "/graphs", &json!({"nodes": []})).await;
    assert_eq!(empty, (400, "INVALID_GRAPH".to_owned()));
    for no_graph in [json!({"nodes": 5}), json!({"graph": 5}), json!({"nodes": [{"id": "a"}]})] {
        let refused = user.refused(Method::POST, "/graphs", &no_graph).await;
        assert_eq!(refused, (422, "VALIDATION_ERROR".to_owned()), "{no_graph}");
    }
    let versions = user.get(&format!("{path}/versions")).await;
    assert_eq!(versions.as_array().map(Vec::len), Some(1), "nothing was stored");
    assert_eq!(user.get("/graphs").await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn invalid_inputs_start_no_execution() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let mut draft = adder("Adder", 1);
    draft["nodes"][0]["input_default"] = json!({"name": "n"});
    let id = user.make(&draft).await;
    let execute = format!("/graphs/{id}/execute");
    for (inputs, word) in [
        (json!({}), "Missing inputs: n."),
        (json!({"n": 1, "color": "red"}), "Unknown inputs: color."),
    ] {
        let (status, body) = user.call(Method::POST, &execute, &json!({"inputs": inputs})).await;
        assert_eq!((status, &body["code"]), (400, &json!("INVALID_INPUTS")), "{body}");
        assert!(text(&body["detail"]).contains(word), "{body}");
    }
    let unknown = json!({"inputs": {"n": 1}, "color": "red"});
    assert_eq!(user.refused(Method::POST, &execute, &unknown).await.0, 422);
    assert_eq!(user.get("/executions").await, json!([]));
    assert_eq!(user.outputs(&id, &json!({"n": "4"})).await, json!({"sum": [5]}));
}
