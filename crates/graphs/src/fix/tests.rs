//! Repairs one by one, and the laws of all of them on random graphs.

use proptest::prelude::*;
use protocol::GraphId;
use protocol::block::BlockKind;
use protocol::graph::Graph;
use serde_json::{Value, json};

use super::converters::TYPE_CONVERTER;
use super::{FixedGraph, fix};
use crate::catalog::AgentInterface;
use crate::placeholders::FILL_TEXT;
use crate::validate::check;
use crate::validate::fixtures::{TestBlocks, block, graph, link, linked, node};

fn blocks() -> TestBlocks {
    let mut blocks = TestBlocks::default();
    let inputs = |pins: Value, required: &[&str]| json!({"type": "object", "properties": pins, "required": required});
    blocks.0.push(block(
        FILL_TEXT,
        BlockKind::Standard,
        inputs(
            json!({"values": {"type": "object"}, "format": {"type": "string"}}),
            &["values", "format"],
        ),
        json!({"output": {"type": "string"}}),
    ));
    blocks.0.push(block(
        TYPE_CONVERTER,
        BlockKind::Standard,
        inputs(json!({"value": {}, "type": {"type": "string"}}), &["value", "type"]),
        json!({"value": {}}),
    ));
    blocks.0.push(block(
        "sign-in",
        BlockKind::Standard,
        inputs(json!({"credentials": {"credentials_types": ["api_key"]}}), &[]),
        json!({"session": {}}),
    ));
    blocks
}

fn known() -> Vec<AgentInterface> {
    vec![AgentInterface {
        id: GraphId::from("g"),
        version: 1,
        name: "Tides".to_owned(),
        input_schema: json!({"properties": {"harbor": {"type": "string"}}}),
        output_schema: json!({"properties": {"report": {"type": "string"}}}),
    }]
}

fn fixed(document: Value) -> FixedGraph {
    let mut document = document;
    document["id"] = json!("test");
    fix(&graph(document), &blocks(), Some(&known()))
}

/// The codes of the repairs that belong to problems.
fn codes(fixed: &FixedGraph) -> Vec<&str> {
    let codes = fixed.fixes.iter().map(|fix| fix.code.as_str());
    codes.filter(|code| !["is_static", "position"].contains(code)).collect()
}

fn output() -> Value {
    node("out", "output", json!({"name": "out"}))
}

#[test]
fn copies_of_nodes_are_dropped_and_others_get_an_id() {
    let twice = node("a", "pass", json!({"input": 1}));
    let repaired = fixed(linked(&[twice.clone(), twice, output()], &["a.output -> out.value"]));
    assert_eq!(codes(&repaired), ["duplicate_node"]);
    assert_eq!((repaired.graph.nodes.len(), repaired.remaining.errors.len()), (2, 0));

    let other = node("a", "ask", json!({"x": 1}));
    let repaired = fixed(json!({"nodes": [node("a", "ask", json!({})), other]}));
    assert_eq!(codes(&repaired), ["duplicate_node"]);
    assert_ne!(repaired.graph.nodes[0].id, repaired.graph.nodes[1].id);

    let ambiguous =
        [node("a", "pass", json!({"input": 1})), node("a", "pass", json!({})), output()];
    let repaired = fixed(linked(&ambiguous, &["a.output -> out.value"]));
    assert_eq!(codes(&repaired), [""; 0], "which of them the link means is not known");
}

#[test]
fn links_that_lead_nowhere_are_dropped() {
    let nodes = [
        node("in", "input", json!({"name": "in"})),
        node("sum", "add", json!({"operation": "Add", "a": 1, "b": 2})),
        output(),
    ];
    let sound = ["in.result -> sum.a", "sum.result -> out.value"];
    for (wrong, code) in [
        ("gone.x -> sum.b", "missing_node"),
        ("in.result -> gone.x", "missing_node"),
        ("in.result -> sum.a_#_x", "unknown_input"),
        ("in.result -> sum.weather_#_x", "unknown_input"),
    ] {
        let repaired = fixed(linked(&nodes, &[&sound[..], &[wrong]].concat()));
        assert_eq!(codes(&repaired), [code], "{wrong}");
        assert_eq!(repaired.graph.links.len(), 2, "{wrong}");
        assert!(repaired.remaining.problems().next().is_none(), "{wrong}");
    }
    let mut document = linked(&nodes, &sound);
    let mut again = link("in.result -> sum.a");
    again["id"] = json!("again");
    document["links"].as_array_mut().expect("links").push(again);
    let repaired = fixed(document);
    assert_eq!(codes(&repaired), ["duplicate_link"]);
    assert_eq!(repaired.graph.links.len(), 2);
}

#[test]
fn misspelled_names_are_corrected_where_only_one_can_be_meant() {
    let nodes = [
        node("w", "words", json!({"txet": "a b"})),
        node("sum", "add", json!({"operation": "add", "b": 2})),
        output(),
    ];
    let repaired = fixed(linked(&nodes, &["w.cuont -> sum.a", "sum.result -> out.valeu"]));
    assert_eq!(
        codes(&repaired),
        ["unknown_output", "unknown_input", "unknown_input", "wrong_input"]
    );
    assert_eq!(repaired.remaining.problems().count(), 0, "{:#?}", repaired.remaining);
    assert_eq!(repaired.graph.nodes[1].input_default["operation"], "Add");

    let unclear = [node("sum", "add", json!({"operation": "Add", "a": 1, "b": 2})), output()];
    let repaired = fixed(linked(
        &[&unclear[..], &[node("in", "input", json!({"name": "in"}))]].concat(),
        &["sum.result -> out.value", "in.result -> sum.c"],
    ));
    assert_eq!(codes(&repaired), [""; 0], "`c` may be `a` or `b`");
}

#[test]
fn placeholders_get_two_braces_and_texts_get_values() {
    let nodes = [
        node("in", "input", json!({"name": "in"})),
        node("fill", FILL_TEXT, json!({"format": "Hello { {name} }, {name}! {\"a\": 1}"})),
        node("plain", FILL_TEXT, json!({"format": "Hello"})),
        output(),
    ];
    let links = [
        "in.result -> fill.values_#_name",
        "fill.output -> out.value",
        "plain.output -> out.value",
    ];
    let repaired = fixed(linked(&nodes, &links));
    assert_eq!(codes(&repaired), ["unfilled_placeholder", "missing_input"]);
    let format = &repaired.graph.nodes[1].input_default["format"];
    assert_eq!(format, "Hello {{name}}, {{name}}! {\"a\": 1}");
    assert_eq!(repaired.remaining.problems().count(), 0, "{:#?}", repaired.remaining);
}

#[test]
fn only_secrets_that_no_block_reads_are_removed() {
    let nodes = [
        node("a", "sign-in", json!({"credentials": {"key": "k"}, "api_key": "k"})),
        node("b", "pass", json!({"input": 1, "headers": {"Authorization": "k"}})),
        output(),
    ];
    let repaired = fixed(linked(&nodes, &["a.session -> out.value", "b.output -> out.value"]));
    assert_eq!(codes(&repaired), ["secret_in_default"; 3]);
    assert_eq!(repaired.graph.nodes[0].input_default.len(), 0);
    let stored = node("a", "sign-in", json!({"credentials": {"id": "c", "provider": "x"}}));
    let repaired = fixed(linked(&[stored, output()], &["a.session -> out.value"]));
    assert_eq!(codes(&repaired), [""; 0], "a reference is no secret");
}

#[test]
fn a_converter_is_put_between_types_without_a_conversion() {
    let nodes = [
        node("w", "words", json!({"text": "a b"})),
        node("sum", "add", json!({"operation": "Add", "b": 2})),
        output(),
    ];
    let repaired = fixed(linked(&nodes, &["w.list -> sum.a", "sum.result -> out.value"]));
    assert_eq!(codes(&repaired), ["type_mismatch"]);
    assert_eq!(repaired.remaining.problems().count(), 0, "{:#?}", repaired.remaining);
    let converter = &repaired.graph.nodes[3];
    assert_eq!(converter.input_default["type"], "number");
    assert!(converter.metadata.contains_key("position"));
}

#[test]
fn the_interface_of_another_agent_is_copied_again() {
    let child = json!({
        "graph_id": "g", "graph_version": 1,
        "input_schema": {"properties": {"port": {}}}, "output_schema": {"properties": {"report": {}}}
    });
    let nodes = [node("in", "input", json!({"name": "in"})), node("c", "agent", child), output()];
    let repaired = fixed(linked(&nodes, &["in.result -> c.harbor", "c.report -> out.value"]));
    assert_eq!(codes(&repaired), ["agent_changed"]);
    assert_eq!(repaired.remaining.problems().count(), 0, "{:#?}", repaired.remaining);
}

#[test]
fn agents_inside_a_file_are_repaired_too() {
    let inner = linked(
        &[node("s", "pass", json!({"input": 1})), output()],
        &["s.output -> out.value", "gone.x -> out.value"],
    );
    let mut outer =
        linked(&[node("s", "pass", json!({"input": 1})), output()], &["s.output -> out.value"]);
    outer["sub_graphs"] = json!([inner]);
    let repaired = fixed(outer);
    assert_eq!(codes(&repaired), ["missing_node"]);
    assert!(repaired.fixes[0].message.starts_with("In the agent"));
    assert!(repaired.remaining.is_valid());
}

fn settings() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({}),
        json!({"name": "x"}),
        json!({"name": "y", "value": 1}),
        json!({"operation": "Add", "a": 1, "b": 2}),
        json!({"operation": "add", "a": 1}),
        json!({"operaton": "Add", "b": "x"}),
        json!({"text": "a", "api_key": "k"}),
        json!({"format": "{x} { {y} } {{z}}", "values": {"z": 1}}),
        json!({"format": "{x}", "input": 1, "items": [1], "values": {}}),
        json!({"graph_id": "g", "graph_version": 1, "input_schema": {"properties": {"old": {}}}}),
        json!({"credentials": {"secret": "k"}, "headers": "{\"Cookie\": \"k\"}"}),
        json!({"input_$_x": 1}),
    ])
}

fn random_graph() -> impl Strategy<Value = Graph> {
    let blocks = vec![
        "input",
        "output",
        "add",
        "words",
        "fill",
        "pass",
        "ask",
        "agent",
        "nowhere",
        "sign-in",
        FILL_TEXT,
        TYPE_CONVERTER,
    ];
    let pins = vec![
        "result",
        "output",
        "value",
        "a",
        "b",
        "cuont",
        "count",
        "list",
        "text",
        "items_$_0",
        "values_#_x",
        "values_#_y",
        "valuse_#_x",
        "a_#_x",
        "input",
        "inputt",
        "harbor",
        "old",
        "report",
        "session",
        "tools_^_n1_~_a",
    ];
    let id = || (0..6_usize).prop_map(|at| format!("n{at}"));
    let node = (id(), prop::sample::select(blocks), settings(), any::<bool>()).prop_map(
        |(id, block, settings, is_placed)| {
            let mut node = node(&id, block, settings);
            if is_placed {
                node["metadata"] = json!({"position": {"x": 0, "y": 0}});
            }
            node
        },
    );
    let pin = || prop::sample::select(pins.clone());
    let link = (0..8_usize, id(), pin(), id(), pin()).prop_map(|(name, from, out, to, into)| {
        json!({
            "id": format!("l{name}"), "source_id": from, "source_name": out, "sink_id": to,
            "sink_name": into
        })
    });
    (prop::collection::vec(node, 0..6), prop::collection::vec(link, 0..8))
        .prop_map(|(nodes, links)| graph(json!({"id": "test", "nodes": nodes, "links": links})))
}

fn bytes(graph: &Graph) -> String {
    serde_json::to_string(graph).expect("JSON")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_repair_is_complete_and_a_graph_without_problems_is_unchanged(graph in random_graph()) {
        let (blocks, known) = (blocks(), known());
        let before = check(&graph, &blocks, Some(&known));
        let once = fix(&graph, &blocks, Some(&known));
        if before.problems().next().is_none() {
            prop_assert_eq!(bytes(&once.graph), bytes(&graph));
        }
        if once.fixes.is_empty() {
            prop_assert_eq!(bytes(&once.graph), bytes(&graph));
        }
        let twice = fix(&once.graph, &blocks, Some(&known));
        prop_assert_eq!(&twice.fixes, &[]);
        prop_assert_eq!(bytes(&twice.graph), bytes(&once.graph));
        prop_assert_eq!(&twice.remaining, &once.remaining);
    }

    #[test]
    fn what_is_repaired_is_no_longer_reported(graph in random_graph()) {
        // A node that gets an id of its own is checked for the first time, under the name of the other one.
        let mut graph = graph;
        let mut ids = std::collections::HashSet::new();
        graph.nodes.retain(|node| ids.insert(node.id.clone()));
        let (blocks, known) = (blocks(), known());
        let before = check(&graph, &blocks, Some(&known));
        let repaired = fix(&graph, &blocks, Some(&known));
        for fix in repaired.fixes.iter().filter(|fix| fix.path.is_some()) {
            let count = |report: &crate::validate::GraphReport| {
                report.problems().filter(|one| one.code == fix.code && one.path == fix.path).count()
            };
            // Several faults may be at one place, and not all of them can be repaired.
            let (was, is) = (count(&before), count(&repaired.remaining));
            prop_assert!(is == 0 || is < was, "{:?}: {:#?}", fix, repaired.remaining);
        }
    }
}

#[test]
fn many_mistakes_are_repaired_in_one_call() {
    let nodes = (0..120).flat_map(|at| {
        let words = node(&format!("w{at}"), "words", json!({"text": "x"}));
        [words, node(&format!("p{at}"), "pass", json!({}))]
    });
    let links: Vec<String> = (0..120).map(|at| format!("w{at}.cuont -> p{at}.inputt")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let repaired = fixed(linked(&nodes.collect::<Vec<_>>(), &links));
    assert_eq!(codes(&repaired).len(), 240);
    assert_eq!(repaired.remaining.errors, []);
}
