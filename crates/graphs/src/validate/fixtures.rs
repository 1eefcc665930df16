//! A small set of blocks for the tests of graph documents, with short ids instead of UUIDs.

use protocol::BlockId;
use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::Graph;
use serde_json::{Value, json};

use crate::catalog::BlockSpecs;

pub(crate) struct TestBlocks(pub(crate) Vec<BlockSpec>);

impl BlockSpecs for TestBlocks {
    fn spec(&self, id: &BlockId) -> Option<&BlockSpec> {
        self.0.iter().find(|spec| spec.id == id.as_str())
    }

    fn specs(&self) -> Box<dyn Iterator<Item = &BlockSpec> + '_> {
        Box::new(self.0.iter())
    }
}

/// A graph from its JSON.
pub(crate) fn graph(json: Value) -> Graph {
    serde_json::from_value(json).expect("a graph")
}

pub(crate) fn node(id: &str, block: &str, input: Value) -> Value {
    json!({"id": id, "block_id": block, "input_default": input})
}

/// `from.pin -> to.pin`
pub(crate) fn link(text: &str) -> Value {
    let (source, sink) = text.split_once(" -> ").expect("an arrow");
    let (source_id, source_name) = source.split_once('.').expect("a source");
    let (sink_id, sink_name) = sink.split_once('.').expect("a sink");
    json!({
        "id": text, "source_id": source_id, "source_name": source_name,
        "sink_id": sink_id, "sink_name": sink_name
    })
}

pub(crate) fn linked(nodes: &[Value], links: &[&str]) -> Value {
    json!({"nodes": nodes, "links": links.iter().map(|text| link(text)).collect::<Vec<_>>()})
}

impl Default for TestBlocks {
    fn default() -> Self {
        let optional = |kind: &str| json!({"type": [kind, "null"], "default": null});
        let input = |id, value: Value| {
            let inputs = json!({
                "type": "object",
                "properties": {"name": {"type": "string"}, "value": value},
                "required": ["name"]
            });
            block(id, BlockKind::Input, inputs, json!({"result": {}}))
        };
        let mut choice = input("input-choice", optional("string"));
        choice.inputs["properties"]["options"] = json!({"type": "array"});
        let mut table = input("input-table", optional("array"));
        table.inputs["properties"]["column_headers"] = json!({"type": "array"});
        let named_value = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "value": {}},
            "required": ["name"]
        });
        Self(vec![
            input("input", json!({"default": null})),
            input("input-number", optional("integer")),
            input("input-toggle", json!({"type": "boolean", "default": false})),
            choice,
            table,
            block("output", BlockKind::Output, named_value, json!({"output": {}})),
            add(),
            standard(
                "words",
                json!({"text": {"type": "string"}}),
                json!({
                    "count": {"type": "integer"},
                    "list": {"type": "array", "items": {"type": "object", "properties": {
                        "word": {"type": "string"}
                    }}}
                }),
            ),
            standard(
                "fill",
                json!({
                    "values": {"type": "object", "additionalProperties": {"type": "string"}},
                    "items": {"type": "array", "items": {"type": "number"}}
                }),
                json!({"output": {"type": "string"}}),
            ),
            standard("pass", json!({"input": {}}), json!({"output": {}})),
            standard("orchestrate", json!({"prompt": {"type": "string"}}), json!({"tools": {}})),
            block("ask", BlockKind::HumanInTheLoop, json!({"type": "object"}), json!({})),
            block(
                "agent",
                BlockKind::Agent,
                json!({
                    "type": "object",
                    "properties": {
                        "graph_id": {"type": "string"},
                        "graph_version": {"type": "integer"},
                        "inputs": {"type": "object"}
                    },
                    "required": ["graph_id", "graph_version"]
                }),
                json!({}),
            ),
        ])
    }
}

fn add() -> BlockSpec {
    let inputs = json!({
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": ["Add", "Subtract"]},
            "a": {"type": "number"},
            "b": {"type": "number"},
            "round": {"type": "boolean", "default": false}
        },
        "required": ["operation", "a", "b"]
    });
    block("add", BlockKind::Standard, inputs, json!({"result": {"type": "number"}}))
}

fn standard(id: &'static str, inputs: Value, outputs: Value) -> BlockSpec {
    let required: Vec<&String> =
        inputs.as_object().into_iter().flat_map(|pins| pins.keys()).collect();
    let inputs = json!({"type": "object", "properties": inputs, "required": required});
    block(id, BlockKind::Standard, inputs, outputs)
}

pub(crate) fn block(id: &'static str, kind: BlockKind, inputs: Value, outputs: Value) -> BlockSpec {
    let outputs = json!({"type": "object", "properties": outputs});
    BlockSpec { inputs, outputs, ..BlockSpec::new(id, id, "").kind(kind) }
}
