//! Shared by the tests of executions: agents built in a few lines, and executions that are started, read, waited for
//! and followed over the API.

use reqwest::Response;
use serde_json::{Map, Value, json};

use super::execution_stream::ExecutionStream;
use crate::server::{Api, id_of, json_of};

/// Block ids, named after what the blocks do.
pub(crate) const ASK_MODEL: &str = "1f292d4a-41a4-4977-9684-7c8d560b9f91";
pub(crate) const AUTOPILOT: &str = "c069dc6b-c3ed-4c12-b6e5-d47361e64ce6";
pub(crate) const CALCULATE: &str = "b1ab9b19-67a6-406d-abf5-2dba76d00c79";
pub(crate) const COMPARE: &str = "715696a0-e1da-45c8-b209-c2fa9c3b0be6";
pub(crate) const COUNT_DOWN: &str = "d67a9c52-5e4e-11e2-bcfd-0800200c9a71";
pub(crate) const DICTIONARY: &str = "b924ddf4-de4f-4b56-9a85-358930dcbc91";
pub(crate) const HUMAN: &str = "8b2a7b3c-6e9d-4a5f-8c1b-2e3f4a5b6c7d";
pub(crate) const LIST: &str = "a912d5c7-6e00-4542-b2a9-8034136930e4";
pub(crate) const REMEMBER: &str = "1d055e55-a2b9-4547-8311-907d05b0304d";
pub(crate) const RUN_AGENT: &str = "e189baac-8c20-45a1-94a7-55177ea42565";
pub(crate) const STEP_THROUGH: &str = "f66a3543-28d3-4ab5-8945-9b336371e2ce";
pub(crate) const TEMPLATE: &str = "db7d8f02-2f44-4c55-ab7a-eae0941f0c30";
pub(crate) const WEB_REQUEST: &str = "6595ae1f-b924-42cb-9a41-551a0611c4b4";
const INPUT: &str = "c0a8e994-ebf1-4a9c-a4d8-89d09c86741b";
const OUTPUT: &str = "363ae599-353e-4804-937e-b2ee3cef3da4";

/// Builds an agent. Tests choose the node ids; pins are written `node.pin`.
#[derive(Default)]
pub(crate) struct GraphBuilder {
    nodes: Vec<Value>,
    links: Vec<Value>,
}

impl GraphBuilder {
    /// An input of the agent with its default value. Its node id is its name.
    pub(crate) fn input(self, name: &str, value: Value) -> Self {
        self.node(name, INPUT, json!({"name": name, "value": value}))
    }

    pub(crate) fn node(mut self, name: &str, block: &str, defaults: Value) -> Self {
        self.nodes.push(json!({"id": name, "block_id": block, "input_default": defaults}));
        self
    }

    pub(crate) fn link(self, from: &str, to: &str) -> Self {
        self.linked(from, to, false)
    }

    /// A link that keeps its value for every later execution of its sink.
    pub(crate) fn static_link(self, from: &str, to: &str) -> Self {
        self.linked(from, to, true)
    }

    /// An output of the agent, fed by this pin. Its node id is `out_` and its name.
    pub(crate) fn output(self, name: &str, from: &str) -> Self {
        let node = format!("out_{name}");
        self.node(&node, OUTPUT, json!({"name": name})).link(from, &format!("{node}.value"))
    }

    fn linked(mut self, from: &str, to: &str, is_static: bool) -> Self {
        let ((source, output), (sink, input)) = (pin(from), pin(to));
        self.links.push(json!({
            "source_id": source, "source_name": output, "sink_id": sink, "sink_name": input,
            "is_static": is_static,
        }));
        self
    }

    pub(crate) async fn save(self, api: &Api, name: &str) -> SavedAgent {
        let created = api.post("/graphs", &self.document(name)).send().await;
        SavedAgent { id: id_of(created.expect("an answer")).await }
    }

    /// The request body that creates the agent.
    pub(crate) fn document(self, name: &str) -> Value {
        json!({"graph": {"name": name, "nodes": self.nodes, "links": self.links}})
    }
}

fn pin(written: &str) -> (&str, &str) {
    written.split_once('.').unwrap_or_else(|| panic!("{written:?} names no pin"))
}

/// A stored agent.
pub(crate) struct SavedAgent {
    pub(crate) id: String,
}

impl SavedAgent {
    pub(crate) async fn start(&self, api: &Api) -> StartedExecution {
        self.start_with(api, json!({})).await
    }

    pub(crate) async fn start_with(&self, api: &Api, inputs: Value) -> StartedExecution {
        let path = format!("/graphs/{}/execute", self.id);
        let started = api.post(&path, &json!({"inputs": inputs})).send().await;
        StartedExecution { graph: self.id.clone(), id: id_of(started.expect("an answer")).await }
    }

    /// The settings of a node that runs this agent with these inputs.
    pub(crate) fn as_node(&self, inputs: Value) -> Value {
        json!({"graph_id": self.id, "graph_version": 1, "inputs": inputs})
    }
}

/// An execution of an agent.
#[derive(Clone)]
pub(crate) struct StartedExecution {
    pub(crate) graph: String,
    pub(crate) id: String,
}

impl StartedExecution {
    /// The execution with its node executions.
    pub(crate) async fn read(&self, api: &Api) -> Value {
        json_of(self.ask(api, "?node_limit=500").await).await
    }

    pub(crate) async fn status(&self, api: &Api) -> String {
        text(&self.read(api).await["status"])
    }

    /// The execution once it has ended, or once it needs a review.
    pub(crate) async fn settled(&self, api: &Api) -> Value {
        let waited = json_of(self.ask(api, "/wait?timeout=30").await).await;
        let status = text(&waited["status"]);
        assert!(!matches!(&*status, "QUEUED" | "RUNNING"), "it did not end in time: {waited}");
        self.read(api).await
    }

    pub(crate) async fn completed(&self, api: &Api) -> Value {
        let run = self.settled(api).await;
        assert_eq!(run["status"], "COMPLETED", "{run}");
        run
    }

    /// The stream of the execution from its beginning.
    pub(crate) async fn follow(&self, api: &Api) -> ExecutionStream {
        ExecutionStream::of(self.ask(api, "/stream").await)
    }

    pub(crate) async fn follow_after(&self, api: &Api, seen: u64) -> ExecutionStream {
        let request = api.get(&self.path("/stream")).header("last-event-id", seen.to_string());
        ExecutionStream::of(request.send().await.expect("an answer"))
    }

    pub(crate) async fn stop(&self, api: &Api) -> Value {
        let stopped = api.post(&self.path("/stop"), &json!({})).send().await;
        json_of(stopped.expect("an answer")).await
    }

    pub(crate) async fn delete(&self, api: &Api) -> Response {
        let request = api.client.delete(api.api(&format!("/executions/{}", self.id)));
        request.send().await.expect("an answer")
    }

    async fn ask(&self, api: &Api, what: &str) -> Response {
        api.get(&self.path(what)).send().await.expect("an answer")
    }

    fn path(&self, what: &str) -> String {
        format!("/graphs/{}/executions/{}{what}", self.graph, self.id)
    }
}

/// The executions of one node, in the order in which they started.
pub(crate) fn node_executions_of<'a>(run: &'a Value, node: &str) -> Vec<&'a Value> {
    let all = run["node_executions"].as_array().expect("a list").iter();
    all.filter(|one| one["node_id"] == node).collect()
}

/// The execution of a node that ran once.
pub(crate) fn node_execution_of<'a>(run: &'a Value, node: &str) -> &'a Value {
    match node_executions_of(run, node)[..] {
        [one] => one,
        ref runs => panic!("{node} has run {} times: {run}", runs.len()),
    }
}

/// The reviews that wait for a decision, the oldest first.
pub(crate) async fn pending(api: &Api) -> Vec<Map<String, Value>> {
    let listed = api.get("/review/pending").send().await.expect("an answer");
    serde_json::from_value(json_of(listed).await).expect("a list of objects")
}

/// Sends these decisions in one request.
pub(crate) async fn decide(api: &Api, reviews: Value) -> Response {
    api.post("/review/action", &json!({"reviews": reviews})).send().await.expect("an answer")
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
