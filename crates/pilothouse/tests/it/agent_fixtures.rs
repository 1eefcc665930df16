//! Shared by the tests of agents: graphs in a short notation, the files of `fixtures/agents`, and a client that creates
//! and runs them.

use std::path::PathBuf;

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::TestServer;
use crate::tokens::token;

pub(crate) const ADD_TO_LIST: &str = "aeb08fc1-2fc1-4141-bc8e-f758f183a822";
pub(crate) const AGENT: &str = "e189baac-8c20-45a1-94a7-55177ea42565";
pub(crate) const AI_TEXT: &str = "1f292d4a-41a4-4977-9684-7c8d560b9f91";
pub(crate) const CALCULATOR: &str = "b1ab9b19-67a6-406d-abf5-2dba76d00c79";
pub(crate) const COUNTDOWN: &str = "d67a9c52-5e4e-11e2-bcfd-0800200c9a71";
pub(crate) const HUMAN: &str = "8b2a7b3c-6e9d-4a5f-8c1b-2e3f4a5b6c7d";
pub(crate) const INPUT: &str = "c0a8e994-ebf1-4a9c-a4d8-89d09c86741b";
pub(crate) const JSON_DECODER: &str = "2b935639-65bc-48fd-9f88-823cd706fcd9";
pub(crate) const OUTPUT: &str = "363ae599-353e-4804-937e-b2ee3cef3da4";
pub(crate) const STORE_VALUE: &str = "1ff065e9-88e8-4358-9d82-8dc91f622ba9";
pub(crate) const TEMPLATE: &str = "db7d8f02-2f44-4c55-ab7a-eae0941f0c30";

/// An id that does not exist.
pub(crate) const UNKNOWN_ID: &str = "01900000-0000-7000-8000-000000000000";

/// A graph of these nodes, with links written as `source.output -> sink.input`.
pub(crate) fn graph(name: &str, nodes: &[(&str, &str, Value)], links: &[&str]) -> Value {
    let nodes = nodes.iter().map(|(id, block, settings)| {
        json!({"id": id, "block_id": block, "input_default": settings, "metadata": {}})
    });
    let links = links.iter().enumerate().map(|(number, link)| {
        let (source, sink) = link.split_once(" -> ").expect("an arrow");
        let (source, output) = source.split_once('.').expect("a pin");
        let (sink, input) = sink.split_once('.').expect("a pin");
        json!({
            "id": format!("link-{number}"), "source_id": source, "sink_id": sink,
            "source_name": output, "sink_name": input, "is_static": false,
        })
    });
    json!({
        "name": name, "description": "", "nodes": nodes.collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(),
    })
}

/// Adds a number to its input: the input is `n`, the output `sum`.
pub(crate) fn adder(name: &str, adds: i64) -> Value {
    graph(
        name,
        &[
            ("n", INPUT, json!({"name": "n", "value": 1})),
            ("add", CALCULATOR, json!({"operation": "Add", "b": adds, "round_result": true})),
            ("sum", OUTPUT, json!({"name": "sum"})),
        ],
        &["n.result -> add.a", "add.result -> sum.value"],
    )
}

pub(crate) fn path_of(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents").join(file)
}

pub(crate) fn read(file: &str) -> Value {
    let text = std::fs::read_to_string(path_of(file)).expect("a fixture");
    serde_json::from_str(&text).expect("JSON")
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not text"))
}

/// One text field of each object of a list.
pub(crate) fn names<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array().expect("a list").iter().map(|one| text(&one[field])).collect()
}

/// One user of the API.
pub(crate) struct ApiUser<'a> {
    server: &'a TestServer,
    token: Option<String>,
}

impl<'a> ApiUser<'a> {
    /// The user of a server without a login.
    pub(crate) fn local(server: &'a TestServer) -> Self {
        Self { server, token: None }
    }

    pub(crate) fn named(server: &'a TestServer, user: &str) -> Self {
        Self { server, token: Some(token(user)) }
    }

    /// Status and body of any response; a null body is not sent.
    pub(crate) async fn call(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let mut request = self.server.client.request(method, self.server.api(path));
        if !body.is_null() {
            request = request.json(body);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let text = response.text().await.expect("text");
        let body = if text.is_empty() { Ok(Value::Null) } else { serde_json::from_str(&text) };
        (status, body.unwrap_or_else(|_| panic!("{path}: {status} {text}")))
    }

    /// The body of a response that must be a success.
    pub(crate) async fn done(&self, method: Method, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call(method.clone(), path, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// Status and code of a response that must be a refusal.
    pub(crate) async fn refused(&self, method: Method, path: &str, body: &Value) -> (u16, String) {
        let (status, answer) = self.call(method.clone(), path, body).await;
        assert!(status >= 400, "{method} {path}: {status} {answer}");
        (status, text(&answer["code"]).to_owned())
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.done(Method::GET, path, &Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        self.done(Method::POST, path, body).await
    }

    /// Creates an agent and returns its id.
    pub(crate) async fn make(&self, graph: &Value) -> String {
        text(&self.post("/graphs", graph).await["id"]).to_owned()
    }

    /// The library entry of an agent.
    pub(crate) async fn entry(&self, graph: &str) -> Value {
        self.get(&format!("/library/agents/by-graph/{graph}")).await
    }

    /// Starts an execution and waits until it has ended or needs a review.
    pub(crate) async fn run(&self, graph: &str, inputs: &Value) -> Value {
        let body = json!({"inputs": inputs});
        let started = self.post(&format!("/graphs/{graph}/execute"), &body).await;
        self.wait_for(&started).await
    }

    pub(crate) async fn wait_for(&self, execution: &Value) -> Value {
        let (graph, id) = (text(&execution["graph_id"]), text(&execution["id"]));
        self.get(&format!("/graphs/{graph}/executions/{id}/wait?timeout=50")).await
    }

    /// The outputs of an execution that must complete without a failed node.
    pub(crate) async fn outputs(&self, graph: &str, inputs: &Value) -> Value {
        let ended = self.run(graph, inputs).await;
        assert_eq!(ended["status"], "COMPLETED", "{ended}");
        assert_eq!(ended["failed_nodes"], json!([]), "{ended}");
        ended["outputs"].clone()
    }
}
