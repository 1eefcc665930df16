//! Edits of a small agent, one by one.

use protocol::graph::{Graph, GraphProblem};
use protocol::graph_edit::GraphEdit;
use serde_json::{Value, json};

use super::{EditedGraph, MAX_EDITS, apply};
use crate::catalog::AgentInterface;
use crate::decompile::decompile;
use crate::spec;
use crate::validate::fixtures::{TestBlocks, block, graph};

fn blocks() -> TestBlocks {
    let mut blocks = TestBlocks::default();
    let fill = json!({
        "type": "object",
        "properties": {"format": {"type": "string"}, "values": {"type": "object"}},
    });
    let kind = protocol::block::BlockKind::Standard;
    let outputs = json!({"output": {"type": "string"}});
    blocks.0.push(block(crate::placeholders::FILL_TEXT, kind, fill, outputs));
    // Outputs are compiled to the real block.
    let output = blocks.0.iter().find(|block| block.id == "output").expect("a block").clone();
    blocks.0.push(protocol::block::BlockSpec { id: crate::compile::AGENT_OUTPUT, ..output });
    blocks
}

/// `sum` adds an input to a number, `show` counts the words of a text with the sum, and `total` is the sum.
fn sums() -> Graph {
    let fill = crate::placeholders::FILL_TEXT;
    graph(json!({
        "id": "g", "name": "Sums",
        "nodes": [
            {"id": "n1", "block_id": "input-number", "input_default": {"value": 3, "name": "amount"}},
            {"id": "n2", "block_id": "add", "metadata": {"customized_name": "Sum", "position": {"x": 7, "y": 9}},
             "input_default": {"b": 2, "operation": "Add", "a": 1, "round": true}},
            {"id": "n3", "block_id": "words", "metadata": {"step": "show"}, "input_default": {"text": "hidden"}},
            {"id": "n4", "block_id": fill, "metadata": {"generated_for": "steps.show.text"},
             "input_default": {"format": "It is {{sum.result}}", "values": {}}},
            {"id": "n5", "block_id": crate::compile::AGENT_OUTPUT, "input_default": {"name": "total"}},
            {"id": "n6", "block_id": "pass", "metadata": {"step": "note"}, "input_default": {"input": "extra.count"}},
        ],
        "links": [
            {"id": "l1", "source_id": "n1", "source_name": "result", "sink_id": "n2", "sink_name": "a"},
            {"id": "l2", "source_id": "n2", "source_name": "result", "sink_id": "n4", "sink_name": "values_#_sum_#_result"},
            {"id": "l3", "source_id": "n4", "source_name": "output", "sink_id": "n3", "sink_name": "text"},
            {"id": "l4", "source_id": "n2", "source_name": "result", "sink_id": "n5", "sink_name": "value"},
        ]
    }))
}

fn no_agents() -> Vec<AgentInterface> {
    Vec::new()
}

fn edits(edits: Value) -> Vec<GraphEdit> {
    serde_json::from_value(edits).expect("edits")
}

fn run(script: Value) -> Result<EditedGraph, Vec<GraphProblem>> {
    apply(&sums(), &edits(script), &blocks(), &no_agents())
}

fn spec_of(graph: &Graph) -> Value {
    spec::to_value(&decompile(graph, &blocks()))
}

#[test]
fn edits_change_the_spec_and_their_undo_restores_it() {
    let table: [(Value, &str, Value); 14] = [
        (json!([{"op": "set", "step": "sum", "pin": "b", "value": 5}]), "/steps/sum/b", json!(5)),
        (json!([{"op": "set", "step": "sum", "pin": "b"}]), "/steps/sum/b", Value::Null),
        (
            json!([{"op": "set", "step": "inputs.amount", "pin": "default", "value": 4}]),
            "/inputs/amount/default",
            json!(4),
        ),
        (
            json!([{"op": "set", "step": "outputs.total", "pin": "title", "value": "T"}]),
            "/outputs/total/title",
            json!("T"),
        ),
        (
            json!([{"op": "connect", "from": "show.count", "to": "sum.a"}]),
            "/steps/sum/a",
            json!({"$any": ["inputs.amount", "show.count"]}),
        ),
        (
            json!([{"op": "connect", "from": "inputs.amount", "to": "outputs.total"}]),
            "/outputs/total",
            json!({"$any": ["sum.result", "inputs.amount"]}),
        ),
        (
            json!([{"op": "disconnect", "from": "inputs.amount", "to": "sum.a"}]),
            "/steps/sum/a",
            Value::Null,
        ),
        (
            json!([{"op": "rename", "step": "sum", "to": "plus"}]),
            "/steps/show/text",
            json!("It is {{plus.result}}"),
        ),
        (
            json!([{"op": "rename", "step": "inputs.amount", "to": "inputs.first"}]),
            "/steps/sum/a",
            json!("inputs.first"),
        ),
        (
            json!([{"op": "rename", "step": "outputs.total", "to": "Grand total"}]),
            "/outputs/Grand total",
            json!("sum.result"),
        ),
        (
            json!([{"op": "remove", "step": "sum"}, {"op": "set", "step": "show", "pin": "text", "value": "-"}]),
            "/outputs/total",
            Value::Null,
        ),
        (json!([{"op": "set_inputs", "inputs": {"other": "string"}}]), "/steps/sum/a", Value::Null),
        (
            json!([{"op": "set", "step": "sum", "pin": "b", "value": "extra.count"}, {"op": "add_step", "step": "extra", "before": "sum", "with": {"block": "words", "text": "x"}}]),
            "/steps/sum/b",
            json!("extra.count"),
        ),
        // A text that was no reference stays a text.
        (
            json!([{"op": "add_step", "step": "extra", "with": {"block": "words"}}]),
            "/steps/note/input",
            json!({"$literal": "extra.count"}),
        ),
    ];
    let before = spec_of(&sums()).to_string();
    for (script, place, expected) in table {
        let edited = run(script.clone()).unwrap_or_else(|why| panic!("{script}: {why:?}"));
        let after = spec_of(&edited.graph);
        assert_eq!(
            after.pointer(place).cloned().unwrap_or_default(),
            expected,
            "{script}\n{after:#}"
        );
        let undone = apply(&edited.graph, &edited.undo, &blocks(), &no_agents());
        let undone = undone.unwrap_or_else(|why| panic!("{script}: {:?}: {why:?}", edited.undo));
        assert_eq!(spec_of(&undone.graph).to_string(), before, "{script}: {:?}", edited.undo);
    }
}

#[test]
fn a_script_that_cannot_be_applied_names_the_edit() {
    let fine = json!({"op": "set", "step": "sum", "pin": "b", "value": 5});
    let table = [
        (json!({"op": "set", "step": "smu", "pin": "b", "value": 5}), "unknown_step", Some("sum")),
        (
            json!({"op": "set", "step": "sum", "pin": "b", "value": "inputs.amuont"}),
            "unknown_reference",
            Some("inputs.amount"),
        ),
        (json!({"op": "set", "step": "sum", "pin": "a_#_", "value": 1}), "unknown_input", None),
        (
            json!({"op": "connect", "from": "inputs.amuont", "to": "sum.b"}),
            "unknown_step",
            Some("inputs.amount"),
        ),
        (json!({"op": "connect", "from": "inputs.amount", "to": "sum.a"}), "duplicate_link", None),
        (
            json!({"op": "connect", "from": "inputs.amount", "to": "show.text"}),
            "invalid_edit",
            None,
        ),
        (
            json!({"op": "connect", "from": "inputs.amount", "to": "inputs.amount"}),
            "invalid_edit",
            None,
        ),
        (
            json!({"op": "disconnect", "from": "sum.result", "to": "sum.a"}),
            "invalid_edit",
            Some("inputs.amount"),
        ),
        (json!({"op": "rename", "step": "sum", "to": "show"}), "duplicate_name", None),
        (json!({"op": "rename", "step": "sum", "to": "amount"}), "duplicate_name", None),
        (json!({"op": "rename", "step": "sum", "to": "two words"}), "invalid_name", None),
        (json!({"op": "rename", "step": "outputs.total", "to": ""}), "invalid_name", None),
        (json!({"op": "remove", "step": "sum"}), "invalid_edit", None),
        (json!({"op": "remove", "step": "nothing"}), "unknown_step", None),
        (
            json!({"op": "add_step", "step": "sum", "with": {"block": "add"}}),
            "duplicate_name",
            None,
        ),
        (
            json!({"op": "add_step", "step": "new", "with": {"block": "ad"}}),
            "unknown_block",
            Some("add"),
        ),
        (json!({"op": "add_step", "step": "new", "with": {}}), "invalid_spec", None),
        (
            json!({"op": "add_step", "step": "new", "with": {"agent": "nobody@2"}}),
            "unknown_agent",
            None,
        ),
        (
            json!({"op": "add_step", "step": "new", "before": "smu", "with": {"block": "add"}}),
            "unknown_step",
            Some("sum"),
        ),
        (json!({"op": "set_inputs", "inputs": {"amount": "numbr"}}), "unknown_type", None),
        (json!({"op": "set_inputs", "inputs": {"sum": "string"}}), "duplicate_name", None),
    ];
    for (edit, code, expected) in table {
        let problems = run(json!([fine, edit])).expect_err(&edit.to_string());
        let problem = &problems[0];
        assert_eq!(
            (problem.code.as_str(), problem.path.as_deref()),
            (code, Some("edits[1]")),
            "{edit}: {problem:?}"
        );
        if let Some(expected) = expected {
            assert!(
                problem.expected.as_ref().is_some_and(|found| found.contains(expected)),
                "{edit}: {problem:?}"
            );
        }
    }
}

#[test]
fn a_misspelled_pin_is_reported_with_its_edit() {
    let fine = json!({"op": "set", "step": "sum", "pin": "b", "value": 5});
    let table = [
        (
            json!({"op": "set", "step": "sum", "pin": "opration", "value": "Add"}),
            "unknown_input",
            "operation",
        ),
        (
            json!({"op": "set", "step": "sum", "pin": "b", "value": "show.coumt"}),
            "unknown_output",
            "count",
        ),
        (
            json!({"op": "set_outputs", "outputs": {"total": "sum.resullt"}}),
            "unknown_output",
            "result",
        ),
    ];
    for (edit, code, expected) in table {
        let problems = run(json!([fine, edit])).expect("a draft").problems;
        let [problem] = problems.as_slice() else { panic!("{edit}: {problems:?}") };
        assert_eq!((problem.code.as_str(), problem.path.as_deref()), (code, Some("edits[1]")));
        assert_eq!(problem.expected.as_deref(), Some(expected), "{edit}");
    }
}

#[test]
fn an_edit_of_one_step_leaves_the_others_byte_for_byte() {
    let base = sums();
    let edited = run(json!([
        {"op": "set", "step": "note", "pin": "input", "value": 1},
        {"op": "add_step", "step": "more", "before": "note", "with": {"block": "pass", "input": "sum.result"}},
    ]));
    let edited = edited.expect("edited").graph;
    let text = |graph: &Graph, id: &str| {
        serde_json::to_string(
            graph.nodes.iter().find(|node| node.id.as_str() == id).expect("a node"),
        )
        .expect("JSON")
    };
    for id in ["n1", "n2", "n3", "n4", "n5"] {
        assert_eq!(text(&edited, id), text(&base, id), "{id}");
    }
    assert_eq!(edited.links[..4], base.links[..], "links keep their ids and their order");
    let order: Vec<&str> = edited.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(order[..5], ["n1", "n2", "n3", "n4", "n5"]);
    assert_eq!(order[6], "n6");
}

#[test]
fn a_renamed_step_keeps_its_node_and_a_new_one_of_its_name_gets_another() {
    let added = run(json!([{"op": "add_step", "step": "extra", "with": {"block": "words"}}]));
    let added = added.expect("edited").graph;
    let script = edits(json!([
        {"op": "rename", "step": "extra", "to": "older"},
        {"op": "add_step", "step": "extra", "with": {"block": "pass", "input": "older.count"}},
    ]));
    let edited = apply(&added, &script, &blocks(), &no_agents()).expect("edited").graph;
    let id = |graph: &Graph, step: &str| {
        let named = |node: &&protocol::graph::Node| node.metadata.get("step") == Some(&json!(step));
        graph.nodes.iter().find(named).expect("a node").id.clone()
    };
    assert_eq!(id(&edited, "older"), id(&added, "extra"));
    assert_ne!(id(&edited, "extra"), id(&added, "extra"));
}

#[test]
fn a_step_that_is_replaced_keeps_its_place_and_position() {
    let edited = run(json!([
        {"op": "remove", "step": "sum"},
        {"op": "add_step", "step": "sum", "with": {"block": "add", "operation": "Subtract", "a": 5, "b": 4}},
        {"op": "connect", "from": "sum.result", "to": "outputs.total"},
    ]));
    let edited = edited.expect("edited").graph;
    assert_eq!(edited.nodes[1].id.as_str(), "n2");
    assert_eq!(edited.nodes[1].metadata["position"], json!({"x": 7, "y": 9}));
}

#[test]
fn names_of_untouched_steps_stay_when_another_one_is_removed() {
    let twins = graph(json!({"nodes": [
        {"id": "a", "block_id": "words"}, {"id": "b", "block_id": "words"}, {"id": "c", "block_id": "words"}
    ]}));
    let script = edits(json!([{"op": "remove", "step": "words"}]));
    let edited = apply(&twins, &script, &blocks(), &no_agents()).expect("edited").graph;
    let names: Vec<String> =
        decompile(&edited, &blocks()).steps.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["words_2", "words_3"]);
}

#[test]
fn an_empty_script_changes_nothing_and_a_long_one_is_refused() {
    let unchanged = run(json!([])).expect("edited");
    assert_eq!((unchanged.graph, unchanged.undo), (sums(), Vec::new()));
    let set = json!({"op": "set", "step": "sum", "pin": "b", "value": 5});
    let problems = run(Value::from(vec![set; MAX_EDITS + 1])).expect_err("too many");
    assert_eq!(problems[0].code, "too_large");
}
