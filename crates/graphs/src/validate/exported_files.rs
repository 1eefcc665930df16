//! Agent files exported by other installations: they load, survive a round trip, and are valid or name the missing
//! blocks.

use std::path::PathBuf;

use protocol::block::BlockKind;
use protocol::graph::{Graph, GraphProblem};
use serde_json::{Value, json};

use super::fixtures::{TestBlocks, block};
use super::validate;
use crate::schema::input_schema;

fn file(name: &str) -> Graph {
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../fixtures/agents"].iter().collect();
    let text = std::fs::read_to_string(root.join(name)).expect("the file is there");
    serde_json::from_str(&text).expect("it loads")
}

/// The blocks that the files use and that every installation has, with the pins they use.
fn blocks() -> TestBlocks {
    let object = |pins: Value, required: &[&str]| {
        let required = required.to_vec();
        json!({"type": "object", "properties": pins, "required": required})
    };
    let named = || object(json!({"name": {"type": "string"}, "value": {}}), &["name"]);
    let text = || json!({"type": ["string", "null"]});
    let list = || json!({"type": "array"});
    let table = object(
        json!({"name": {"type": "string"}, "value": list(), "column_headers": list()}),
        &["name"],
    );
    let calculator = object(
        json!({
            "operation": {"enum": ["Add", "Multiply"]}, "a": {"type": "number"},
            "b": {"type": "number"}, "round_result": {"type": "boolean"}
        }),
        &["operation", "a", "b"],
    );
    let template = object(
        json!({"values": {"type": "object"}, "format": {"type": "string"}}),
        &["values", "format"],
    );
    let steps = object(json!({"items": list(), "items_object": {}, "items_str": text()}), &[]);
    let add_to_list = object(
        json!({
            "list": list(), "entry": {}, "entries": list(),
            "position": {"type": ["integer", "null"]}
        }),
        &[],
    );
    let prompt = object(
        json!({
            "prompt": {"type": "string"}, "prompt_values": {"type": "object"},
            "max_tokens": {"type": ["integer", "null"]}, "retry": {"type": "integer"}
        }),
        &["prompt"],
    );
    let child = object(
        json!({"graph_id": {"type": "string"}, "graph_version": {"type": "integer"}}),
        &["graph_id", "graph_version"],
    );
    let standard = BlockKind::Standard;
    TestBlocks(vec![
        block(
            "c0a8e994-ebf1-4a9c-a4d8-89d09c86741b",
            BlockKind::Input,
            named(),
            json!({"result": {}}),
        ),
        block(
            "7fcd3bcb-8e1b-4e69-903d-32d3d4a92158",
            BlockKind::Input,
            named(),
            json!({"result": text()}),
        ),
        block(
            "5603b273-f41e-4020-af7d-fbc9c6a8d928",
            BlockKind::Input,
            table,
            json!({"result": list()}),
        ),
        block(
            "363ae599-353e-4804-937e-b2ee3cef3da4",
            BlockKind::Output,
            named(),
            json!({"output": {}}),
        ),
        block("e189baac-8c20-45a1-94a7-55177ea42565", BlockKind::Agent, child, json!({})),
        block(
            "cc10ff7b-7753-4ff2-9af6-9399b1a7eddc",
            BlockKind::Note,
            object(json!({"text": text()}), &[]),
            json!({}),
        ),
        block(
            "b1ab9b19-67a6-406d-abf5-2dba76d00c79",
            standard,
            calculator,
            json!({"result": {"type": "number"}}),
        ),
        block(
            "db7d8f02-2f44-4c55-ab7a-eae0941f0c30",
            standard,
            template,
            json!({"output": {"type": "string"}}),
        ),
        block(
            "f66a3543-28d3-4ab5-8945-9b336371e2ce",
            standard,
            steps,
            json!({"item": {}, "key": {}}),
        ),
        block(
            "aeb08fc1-2fc1-4141-bc8e-f758f183a822",
            standard,
            add_to_list,
            json!({"updated_list": list()}),
        ),
        block(
            "1ff065e9-88e8-4358-9d82-8dc91f622ba9",
            standard,
            object(json!({"input": {}, "data": {}}), &["input"]),
            json!({"output": {}}),
        ),
        block(
            "1f292d4a-41a4-4977-9684-7c8d560b9f91",
            standard,
            prompt,
            json!({"response": {"type": "string"}}),
        ),
    ])
}

#[test]
fn exported_agents_load_and_are_valid() {
    for name in ["calculator.json", "crew-greeting.json", "manifest-totals.json", "old-format.json"]
    {
        let graph = file(name);
        assert_eq!(validate(&graph, &blocks()), [], "{name}");
        let again = serde_json::to_string(&graph).expect("it is serialized");
        assert_eq!(serde_json::from_str::<Graph>(&again).expect("it loads again"), graph, "{name}");
    }
}

#[test]
fn an_exported_agent_names_the_blocks_that_are_missing_here() {
    let problems = validate(&file("berth-price-watch.json"), &blocks());
    let messages: Vec<&str> =
        problems.iter().map(|GraphProblem { message, .. }| message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "There is no block ExtractWebsiteContentBlock (436c3984-57fd-4b85-8e9a-459b356883bd) for \
             “Read the page”.",
            "There is no block SendEmailBlock (4335878a-394e-4e67-adf2-919877ff49ae) for “Mail it”.",
        ]
    );
}

#[test]
fn the_inputs_of_an_exported_agent_are_those_it_was_exported_with() {
    let schema = input_schema(&file("crew-greeting.json"), &blocks());
    assert_eq!(schema["required"], json!([]));
    assert_eq!(schema["properties"]["Crew"]["title"], "Crew list");
    assert_eq!(schema["properties"]["Crew"]["default"], json!(["Mara", "Jonas"]));
}
