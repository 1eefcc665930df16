//! Graphs with one problem each, and graphs without problems.

use serde_json::{Value, json};

use super::fixtures::{TestBlocks, graph, linked, node};
use super::*;

/// `code at node` for every problem.
fn faults(document: Value) -> Vec<String> {
    let problems = validate(&graph(document), &TestBlocks::default());
    let at =
        |problem: &GraphProblem| problem.node_id.as_ref().map_or("-".into(), ToString::to_string);
    problems.iter().map(|problem| format!("{} at {}", problem.code, at(problem))).collect()
}

#[test]
fn a_valid_graph_has_no_problems() {
    let nodes = [
        node("in", "input", json!({"name": "text", "value": null})),
        node("words", "words", json!({})),
        node("add", "add", json!({"operation": "Add", "a": "", "b": "2", "round": ""})),
        node("fill", "fill", json!({"values": {"greeting": "hi"}, "items_$_1": 4})),
        node("out", "output", json!({"name": "sum"})),
    ];
    let links = [
        "in.result -> words.text",
        "words.count -> add.a",
        "words.list_$_0_#_word -> fill.values_#_word",
        "add.result -> fill.items_$_0",
        "fill.output -> out.value",
        "fill.error -> out.value",
    ];
    assert_eq!(faults(linked(&nodes, &links)), [""; 0]);
}

#[test]
fn every_problem_of_a_node_is_reported_at_the_node() {
    let table = [
        (json!([]), "empty_graph at -"),
        (json!([node("a", "nowhere", json!({}))]), "unknown_block at a"),
        (json!([node("a", "ask", json!({})), node("a", "ask", json!({}))]), "duplicate_node at a"),
        (
            json!([
                node("a", "input", json!({"name": "x"})),
                node("b", "input", json!({"name": "x"}))
            ]),
            "duplicate_input at b",
        ),
        (json!([node("a", "add", json!({"operation": "Add", "a": 1}))]), "missing_input at a"),
        (
            json!([node("a", "add", json!({"operation": "Add", "a": 1, "b": null}))]),
            "missing_input at a",
        ),
        (
            json!([node("a", "add", json!({"operation": "Divide", "a": 1, "b": 2}))]),
            "wrong_input at a",
        ),
        (
            json!([node("a", "add", json!({"operation": "Add", "a": "x", "b": 2}))]),
            "wrong_input at a",
        ),
        (json!([node("a", "pass", json!({"input_$_x": 1}))]), "wrong_input at a"),
        (json!([node("a", "agent", json!({"graph_id": "g"}))]), "missing_agent at a"),
        (
            json!([node(
                "a",
                "agent",
                json!({
                    "graph_id": "g", "graph_version": 1, "inputs": {"x": 1},
                    "input_schema": {"properties": {"x": {}, "y": {}}, "required": ["x", "y"]}
                })
            )]),
            "missing_input at a",
        ),
    ];
    for (nodes, expected) in table {
        assert_eq!(faults(json!({"nodes": nodes})), [expected], "{nodes}");
    }
}

#[test]
fn every_problem_of_a_link_is_reported_at_its_sink() {
    let nodes = [
        node("in", "input", json!({"name": "text"})),
        node("words", "words", json!({"text": ""})),
        node("add", "add", json!({"operation": "Add", "a": 1, "b": 2})),
        node("fill", "fill", json!({"values": {}, "items": []})),
    ];
    let table = [
        ("gone.result -> add.a", "missing_node at add"),
        ("in.result -> gone.a", "missing_node at gone"),
        ("add.sum -> fill.values_#_x", "unknown_output at fill"),
        ("add.result_#_x -> fill.values_#_x", "unknown_output at fill"),
        ("words.list_$_x -> fill.values_#_x", "unknown_output at fill"),
        ("in.result -> add.c", "unknown_input at add"),
        ("in.result -> add.a_#_x", "unknown_input at add"),
        ("words.list -> add.a", "type_mismatch at add"),
        ("words.list_$_0 -> add.a", "type_mismatch at add"),
        ("words.list -> fill.items_$_0", "type_mismatch at fill"),
    ];
    for (wrong, expected) in table {
        assert_eq!(faults(linked(&nodes, &[wrong])), [expected], "{wrong}");
    }
    let twice = ["in.result -> add.a", "in.result -> add.a"];
    assert_eq!(faults(linked(&nodes, &twice)), ["duplicate_link at add"]);
}

#[test]
fn a_cycle_needs_an_input_from_outside() {
    let nodes = [
        node("in", "input", json!({"name": "first"})),
        node("a", "pass", json!({})),
        node("b", "pass", json!({})),
        node("behind", "pass", json!({})),
    ];
    let closed = ["a.output -> b.input", "b.output -> a.input", "b.output -> behind.input"];
    assert_eq!(faults(linked(&nodes, &closed)), ["dead_cycle at a", "dead_cycle at b"]);
    let open = [&closed[..], &["in.result -> a.input"]].concat();
    assert_eq!(faults(linked(&nodes, &open)), [""; 0]);

    let sum = [
        node("in", "input", json!({"name": "x"})),
        node("sum", "add", json!({"operation": "Add"})),
    ];
    let alone = ["in.result -> sum.a", "sum.result -> sum.b"];
    assert_eq!(faults(linked(&sum, &alone)), ["dead_cycle at sum"], "it waits for itself");
    let begun = [&alone[..], &["in.result -> sum.b"]].concat();
    assert_eq!(faults(linked(&sum, &begun)), [""; 0]);
}

#[test]
fn the_loop_of_an_orchestrator_and_its_tools_starts_by_itself() {
    let nodes = [
        node("boss", "orchestrate", json!({"prompt": "Go."})),
        node("add", "add", json!({"operation": "Add", "a": 1})),
    ];
    let back = ["boss.tools_^_add_~_b -> add.b", "add.result -> boss.prompt"];
    assert_eq!(faults(linked(&nodes, &back)), [""; 0]);
    let no_tool = ["boss.tools -> add.b", "add.result -> boss.prompt"];
    assert_eq!(faults(linked(&nodes, &no_tool)), ["dead_cycle at boss", "dead_cycle at add"]);
}

#[test]
fn nested_agents_and_tools_define_their_own_pins() {
    let child = json!({
        "graph_id": "g", "graph_version": 1,
        "input_schema": {"properties": {"topic": {"type": "string"}}, "required": ["topic"]},
        "output_schema": {"properties": {"report": {"type": "string"}}}
    });
    let nodes = [
        node("in", "input", json!({"name": "x"})),
        node("child", "agent", child),
        node("boss", "orchestrate", json!({"prompt": "Go."})),
        node("add", "add", json!({"operation": "Add", "a": 1})),
    ];
    let sound = [
        "in.result -> child.topic",
        "child.report -> boss.prompt",
        "boss.tools_^_add_~_b -> add.b",
    ];
    assert_eq!(faults(linked(&nodes, &sound)), [""; 0]);
    let wrong =
        [&sound[..], &["in.result -> child.subject", "child.summary -> boss.prompt"]].concat();
    assert_eq!(
        faults(linked(&nodes, &wrong)),
        ["unknown_input at child", "unknown_output at boss"]
    );
}

#[test]
fn a_graph_that_is_too_large_is_refused_without_further_checks() {
    let nodes = |count: usize| {
        let node = |index: usize| node(&index.to_string(), "nowhere", json!({}));
        json!({"nodes": (0..count).map(node).collect::<Vec<_>>()})
    };
    assert_eq!(faults(nodes(GRAPH_NODES + 1)), ["too_large at -"]);
    let long = json!({"nodes": [node("a", "pass", json!({"input": "x".repeat(GRAPH_BYTES)}))]});
    assert_eq!(faults(long), ["too_large at -"]);
}

#[test]
fn a_nested_agent_of_an_exported_file_is_checked_too() {
    let inner = json!({"name": "Inner", "nodes": [node("x", "nowhere", json!({}))]});
    let outer = graph(json!({"nodes": [node("a", "ask", json!({}))], "sub_graphs": [inner]}));
    let problems = validate(&outer, &TestBlocks::default());
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.starts_with("In the agent “Inner”"), "{:?}", problems[0]);
}

#[test]
fn a_missing_block_is_named_when_its_name_is_known() {
    let document = json!({"nodes": [{
        "id": "a", "block_id": "436c3984-57fd-4b85-8e9a-459b356883bd",
        "metadata": {"customized_name": "Read the page"}
    }]});
    let problems = validate(&graph(document), &TestBlocks::default());
    assert_eq!(
        problems[0].message,
        "There is no block ExtractWebsiteContentBlock (436c3984-57fd-4b85-8e9a-459b356883bd) for “Read the page”."
    );
}
