//! Agents with one mistake each: its code, its severity and its place in the spec.

use protocol::GraphId;
use protocol::graph::GraphProblem;
use protocol::graph_edit::GraphEdit;
use serde_json::{Value, json};

use super::check;
use super::fixtures::{TestBlocks, graph, link, linked, node};
use super::report::GraphReport;
use crate::catalog::AgentInterface;

fn report(document: Value) -> GraphReport {
    check(&graph(document), &TestBlocks::default(), None)
}

/// `error code at path` or `warning code at path` for every problem.
fn found(report: &GraphReport) -> Vec<String> {
    let line = |kind: &str, problem: &GraphProblem| {
        format!("{kind} {} at {}", problem.code, problem.path.as_deref().unwrap_or("-"))
    };
    let errors = report.errors.iter().map(|problem| line("error", problem));
    errors.chain(report.warnings.iter().map(|problem| line("warning", problem))).collect()
}

fn input(id: &str) -> Value {
    node(id, "input", json!({"name": id}))
}

fn output(id: &str) -> Value {
    node(id, "output", json!({"name": id}))
}

fn add(id: &str, settings: Value) -> Value {
    let mut all = json!({"operation": "Add", "a": 1, "b": 2});
    let more = settings.as_object().cloned().unwrap_or_default();
    all.as_object_mut().expect("an object").extend(more);
    node(id, "add", all)
}

#[test]
fn a_sound_agent_has_nothing_to_report() {
    let nodes = [input("n"), add("sum", json!({})), output("total")];
    let links = ["n.result -> sum.a", "sum.result -> total.value"];
    assert_eq!(found(&report(linked(&nodes, &links))), [""; 0]);
}

/// What is wrong, the nodes and links, and what is reported.
type Mistake = (&'static str, Vec<Value>, Vec<&'static str>, &'static [&'static str]);

#[test]
fn every_mistake_has_a_code_a_severity_and_a_place() {
    let sound = ["n.result -> sum.a", "sum.result -> total.value"];
    let fed = |more: &[&'static str]| [&sound[..], more].concat();
    let table: Vec<Mistake> = vec![
        (
            "a required input is missing",
            vec![input("n"), node("sum", "add", json!({"operation": "Add"})), output("total")],
            fed(&[]),
            &["error missing_input at steps.sum.b"],
        ),
        (
            "a value is no choice",
            vec![input("n"), add("sum", json!({"operation": "Dance"})), output("total")],
            fed(&[]),
            &["error wrong_input at steps.sum.operation"],
        ),
        (
            "a block is unknown",
            vec![input("n"), node("sum", "nowhere", json!({})), output("total")],
            fed(&[]),
            &["error unknown_block at steps.sum.block"],
        ),
        (
            "an input is named twice",
            vec![
                input("n"),
                node("m", "input", json!({"name": "n"})),
                add("sum", json!({})),
                output("total"),
            ],
            fed(&["m.result -> sum.b"]),
            &["error duplicate_input at inputs.n"],
        ),
        (
            "an output is named twice",
            vec![
                input("n"),
                add("sum", json!({})),
                output("total"),
                node("t", "output", json!({"name": "total"})),
            ],
            fed(&["sum.result -> t.value"]),
            &["warning duplicate_output at outputs.total"],
        ),
        (
            "nothing fills an output",
            vec![input("n"), add("sum", json!({})), output("total"), output("more")],
            fed(&[]),
            &["warning unfilled_output at outputs.more"],
        ),
        (
            "nothing uses a step",
            vec![input("n"), add("sum", json!({})), output("total"), add("idle", json!({}))],
            fed(&[]),
            &["warning unused_step at steps.add"],
        ),
        (
            "nothing uses an input",
            vec![input("n"), add("sum", json!({})), output("total"), input("spare")],
            fed(&[]),
            &["warning unused_input at inputs.spare"],
        ),
        (
            "a step waits for a cycle that never starts",
            vec![
                input("n"),
                add("sum", json!({})),
                output("total"),
                node("p", "pass", json!({})),
                output("x"),
            ],
            fed(&["p.output -> p.input", "p.output -> x.value"]),
            &["error dead_cycle at steps.pass", "warning unfilled_output at outputs.x"],
        ),
        (
            "a cycle never ends",
            vec![
                input("n"),
                add("sum", json!({})),
                output("total"),
                node("p", "pass", json!({})),
                output("x"),
            ],
            fed(&["sum.result -> p.input", "p.output -> p.input", "p.output -> x.value"]),
            &["error endless_cycle at steps.pass"],
        ),
        (
            "a setting contains a secret",
            vec![input("n"), add("sum", json!({"api_key": "sk-1"})), output("total")],
            fed(&[]),
            &["warning secret_in_default at steps.sum.api_key"],
        ),
        (
            "a setting is misspelled",
            vec![input("n"), add("sum", json!({"rouund": true})), output("total")],
            fed(&[]),
            &["warning unknown_input at steps.sum.rouund"],
        ),
        (
            "the items of a list do not fit",
            vec![
                node("w", "words", json!({"text": "x"})),
                node("f", "fill", json!({"values": {}})),
                output("total"),
            ],
            vec!["w.list -> f.items", "f.output -> total.value"],
            &["error type_mismatch at steps.fill.items"],
        ),
    ];
    for (what, nodes, links, expected) in table {
        let named: Vec<Value> = nodes
            .into_iter()
            .map(|mut node| {
                if node["id"] == "sum" {
                    node["metadata"] = json!({"step": "sum"});
                }
                node
            })
            .collect();
        let report = report(linked(&named, &links));
        assert_eq!(found(&report), expected, "{what}: {report:#?}");
        assert!(report.problems().all(|problem| problem.step.is_some()), "{what}");
    }
}

#[test]
fn a_link_that_is_drawn_twice_is_reported_with_the_edit_that_removes_it() {
    let nodes = [input("n"), add("sum", json!({})), output("total")];
    let mut document = linked(&nodes, &["n.result -> sum.a", "sum.result -> total.value"]);
    let mut again = link("sum.result -> total.value");
    again["id"] = json!("again");
    document["links"].as_array_mut().expect("links").push(again);
    let report = report(document);
    assert_eq!(found(&report), ["warning duplicate_link at outputs.total"]);
    let expected = GraphEdit::Disconnect { from: "add.result".into(), to: "outputs.total".into() };
    assert_eq!(report.warnings[0].edit, Some(expected));
}

#[test]
fn a_misspelled_output_is_repaired_by_one_edit() {
    let nodes = [node("w", "words", json!({"text": "x"})), add("sum", json!({})), output("total")];
    let report = report(linked(&nodes, &["w.cuont -> sum.a", "sum.result -> total.value"]));
    assert_eq!(found(&report), ["error unknown_output at steps.add.a"]);
    let problem = &report.errors[0];
    assert_eq!(problem.expected.as_deref(), Some("count"));
    assert_eq!(problem.got.as_deref(), Some("cuont"));
    let value = Some(json!("words.count"));
    let expected = GraphEdit::Set { step: "add".into(), pin: "a".into(), value };
    assert_eq!(problem.edit, Some(expected));
}

#[test]
fn a_misspelled_choice_is_repaired_by_one_edit() {
    let report = report(linked(
        &[add("sum", json!({"operation": "add"})), output("total")],
        &["sum.result -> total.value"],
    ));
    let value = Some(json!("Add"));
    let expected = GraphEdit::Set { step: "add".into(), pin: "operation".into(), value };
    assert_eq!(report.errors[0].edit, Some(expected));
    assert_eq!(report.errors[0].expected.as_deref(), Some("one of \"Add\", \"Subtract\""));
}

fn child(version: u32, inputs: Value) -> Value {
    let schema = json!({"type": "object", "properties": inputs});
    let output = json!({"type": "object", "properties": {"report": {"type": "string"}}});
    node(
        "child",
        "agent",
        json!({"graph_id": "g", "graph_version": version, "input_schema": schema,
               "output_schema": output}),
    )
}

#[test]
fn the_agents_that_steps_run_must_exist_with_their_interface() {
    let known = vec![AgentInterface {
        id: GraphId::from("g"),
        version: 2,
        name: "Tides".to_owned(),
        input_schema: json!({"properties": {"harbor": {"type": "string"}}}),
        output_schema: json!({"properties": {"report": {"type": "string"}}}),
    }];
    let links = ["in.result -> child.harbor", "child.report -> out.value"];
    let old = ["in.result -> child.port", "child.report -> out.value"];
    let table: [(Value, &[&str], &[&str]); 4] = [
        (child(2, json!({"harbor": {"type": "string"}})), &links, &[]),
        (child(1, json!({"harbor": {}})), &links, &["error unknown_agent at steps.agent.agent"]),
        (
            child(2, json!({"harbor": {}, "depth": {}})),
            &links,
            &["warning agent_changed at steps.agent"],
        ),
        (
            child(2, json!({"port": {}})),
            &old,
            &["error unknown_input at steps.agent.port", "warning agent_changed at steps.agent"],
        ),
    ];
    for (child, links, expected) in table {
        let nodes = [node("in", "input", json!({"name": "in"})), child, output("out")];
        let document = graph(linked(&nodes, links));
        let report = check(&document, &TestBlocks::default(), Some(&known));
        assert_eq!(found(&report), expected, "{:#?}", document.nodes[1]);
        let unknown = check(&document, &TestBlocks::default(), None);
        assert_eq!(unknown.needs.agents.len(), 1, "without known agents, it is a need");
        assert!(unknown.is_valid());
    }
}

#[test]
fn a_reference_to_stored_credentials_is_no_secret() {
    let stored = json!({"credentials": {"id": "c", "provider": "http", "type": "api_key"}});
    let nodes = [add("sum", stored), output("total")];
    assert_eq!(found(&report(linked(&nodes, &["sum.result -> total.value"]))), [""; 0]);
}

#[test]
fn a_graph_of_the_largest_size_with_a_fault_everywhere_is_checked_in_bounded_time() {
    use protocol::limits::{GRAPH_LINKS, GRAPH_NODES};
    let nodes: Vec<Value> =
        (0..GRAPH_NODES).map(|at| node(&format!("n{at}"), "pass", json!({"inputt": 1}))).collect();
    let links: Vec<String> = (0..GRAPH_LINKS / 4)
        .map(|at| format!("n{}.outputt -> n{}.inputt", at % GRAPH_NODES, (at * 7) % GRAPH_NODES))
        .collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let report = report(linked(&nodes, &links));
    assert!(report.errors.len() > GRAPH_NODES, "{}", report.errors.len());
}
