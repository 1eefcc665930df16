//! Differences of a small agent and its edited versions.

use protocol::block::{BlockCost, BlockKind, BlockSpec, CostKind};
use protocol::graph::Graph;
use protocol::graph_diff::{AgentUse, AgentUseKind};
use protocol::graph_edit::GraphEdit;
use protocol::tool::ToolEffect;
use serde_json::{Value, json};

use super::{diff, reversed, to_text};
use crate::catalog::AgentInterface;
use crate::compile::AGENT_OUTPUT;
use crate::edit::apply;
use crate::validate::fixtures::{TestBlocks, block, graph};

fn blocks() -> TestBlocks {
    let mut blocks = TestBlocks::default();
    let output = blocks.0.iter().find(|block| block.id == "output").expect("a block").clone();
    blocks.0.push(BlockSpec { id: AGENT_OUTPUT, ..output });
    let inputs = json!({"type": "object", "properties": {
        "to": {"type": "string"}, "headers": {"type": "object"}, "api_key": {"type": "string"},
        "credentials": {"credentials_types": ["api_key"], "credentials_provider": "mail"},
    }});
    let send = block("send", BlockKind::Standard, inputs, json!({"sent": {}}));
    let costs = &[BlockCost { kind: CostKind::Run, amount: 3, per: 1 }];
    blocks.0.push(BlockSpec { effect: ToolEffect::Once, sensitive: true, costs, ..send });
    blocks
}

/// `sum` adds an input to a number, `show` passes it on.
fn sums() -> Graph {
    graph(json!({
        "id": "g", "name": "Sums",
        "nodes": [
            {"id": "n1", "block_id": "input-number", "input_default": {"name": "amount", "value": 3}},
            {"id": "n2", "block_id": "add", "metadata": {"step": "sum"},
             "input_default": {"operation": "Add", "b": 2}},
            {"id": "n3", "block_id": "pass", "metadata": {"step": "show"}},
            {"id": "n4", "block_id": AGENT_OUTPUT, "input_default": {"name": "total"}},
        ],
        "links": [
            {"id": "l1", "source_id": "n1", "source_name": "result", "sink_id": "n2", "sink_name": "a"},
            {"id": "l2", "source_id": "n2", "source_name": "result", "sink_id": "n3", "sink_name": "input"},
            {"id": "l3", "source_id": "n3", "source_name": "output", "sink_id": "n4", "sink_name": "value"},
        ]
    }))
}

fn edited(edits: Value) -> Graph {
    let edits: Vec<GraphEdit> = serde_json::from_value(edits).expect("edits");
    let agents: Vec<AgentInterface> = Vec::new();
    apply(&sums(), &edits, &blocks(), &agents).expect("edited").graph
}

#[test]
fn each_change_has_its_line() {
    let table = [
        (json!([]), "No changes.\n"),
        (json!([{"op": "set", "step": "sum", "pin": "b", "value": 5}]), "~ sum.b: 2 → 5\n"),
        (
            json!([{"op": "set", "step": "sum", "pin": "round", "value": true}]),
            "~ sum.round: nothing → true\n",
        ),
        (json!([{"op": "rename", "step": "sum", "to": "plus"}]), "~ step sum is now plus\n"),
        (
            json!([{"op": "rename", "step": "sum", "to": "plus"}, {"op": "set", "step": "plus", "pin": "b"}]),
            "~ step sum is now plus\n~ plus.b: 2 → nothing\n",
        ),
        (
            json!([{"op": "connect", "from": "sum.result", "to": "outputs.total"}]),
            "+ link sum.result → outputs.total\n",
        ),
        (
            json!([{"op": "remove", "step": "show"}]),
            "- step show: pass\n    input: \"sum.result\"\n- link show.output → outputs.total\n- link sum.result → show.input\n",
        ),
        (
            json!([{"op": "rename", "step": "inputs.amount", "to": "first"}]),
            "~ input amount is now first\n! The inputs no longer fit those who use the agent as it was.\n",
        ),
        (
            json!([{"op": "set_inputs", "inputs": {"amount": {"block": "input-number", "default": 3}, "note": {"block": "input", "default": "x"}}}]),
            "+ input note: anything, \"x\" by default\n",
        ),
        (
            json!([{"op": "set_inputs", "inputs": {"amount": {"block": "input-number"}}}]),
            "~ input amount: a whole number, 3 by default → a whole number, required\n! The inputs no longer fit those who use the agent as it was.\n",
        ),
        (
            json!([{"op": "remove", "step": "outputs.total"}]),
            "- link show.output → outputs.total\n- output total: anything\n! The outputs no longer fit those who use the agent as it was.\n",
        ),
        (
            json!([{"op": "add_step", "step": "mail", "with": {"block": "send", "to": "a@b.example", "api_key": "k-123", "headers": {"Authorization": "Bearer k-123", "Accept": "x"}}}]),
            "+ step mail: send\n    to: \"a@b.example\"\n    headers: \"<secret>\"\n    api_key: \"<secret>\"\n+ effect of mail: send (once, may need approval)\n+ credentials mail: mail\n~ cost per execution: 0 credits → 3 credits\n",
        ),
        (
            json!([{"op": "remove", "step": "show"}, {"op": "add_step", "step": "show", "with": {"block": "words", "text": "x"}}]),
            "~ step show: pass → words\n~ show.input: \"sum.result\" → nothing\n~ show.text: nothing → \"x\"\n- link show.output → outputs.total\n- link sum.result → show.input\n",
        ),
    ];
    for (edits, expected) in table {
        let found = diff(&sums(), &edited(edits.clone()), &blocks());
        assert_eq!(to_text(&found), expected, "{edits}");
        let back = diff(&edited(edits.clone()), &sums(), &blocks());
        assert_eq!(reversed(found.clone()), back, "{edits}");
        let text = serde_json::to_string(&found).expect("JSON");
        assert!(!text.contains("k-123"), "{text}");
        assert_eq!(found.is_empty(), edits == json!([]));
        assert_eq!(
            serde_json::from_str::<protocol::graph_diff::AgentDiff>(&text).expect("a diff"),
            found
        );
    }
}

#[test]
fn layout_and_ids_never_show() {
    let mut moved = sums();
    for (at, node) in moved.nodes.iter_mut().enumerate() {
        node.metadata.insert("position".to_owned(), json!({"x": at, "y": 3}));
    }
    moved.nodes.reverse();
    moved.links.reverse();
    let other = moved.clone();
    for node in &mut moved.nodes {
        node.id = protocol::NodeId(format!("new-{}", node.id));
    }
    for link in &mut moved.links {
        link.id = format!("new-{}", link.id);
        link.source_id = protocol::NodeId(format!("new-{}", link.source_id));
        link.sink_id = protocol::NodeId(format!("new-{}", link.sink_id));
    }
    for changed in [moved, other] {
        assert!(diff(&sums(), &changed, &blocks()).is_empty());
    }
}

#[test]
fn exchanged_names_are_two_renames() {
    let exchanged = edited(json!([
        {"op": "rename", "step": "sum", "to": "between"},
        {"op": "rename", "step": "show", "to": "sum"},
        {"op": "rename", "step": "between", "to": "show"},
    ]));
    let found = diff(&sums(), &exchanged, &blocks());
    assert_eq!(to_text(&found), "~ step show is now sum\n~ step sum is now show\n");
}

#[test]
fn a_secret_that_changes_shows_as_changed_only() {
    let with_key = |key: &str| {
        edited(
            json!([{"op": "add_step", "step": "mail", "with": {"block": "send", "api_key": key, "headers": {"X-Token": key}}}]),
        )
    };
    let found = diff(&with_key("k-1"), &with_key("k-2"), &blocks());
    assert_eq!(
        to_text(&found),
        "~ mail.api_key: \"<secret>\" → \"<secret>\"\n~ mail.headers: {\"X-Token\":\"<secret>\"} → {\"X-Token\":\"<secret>\"}\n"
    );
}

#[test]
fn long_texts_are_cut_so_that_their_difference_shows() {
    let with_text = |end: &str| {
        let text = format!("{}{end}", "word ".repeat(500));
        edited(json!([{"op": "set", "step": "show", "pin": "input", "value": text}]))
    };
    let found = diff(&with_text("here"), &with_text("there"), &blocks());
    let text = to_text(&found);
    assert!(text.contains("here\"") && text.contains("there\"") && text.len() < 200, "{text}");
}

#[test]
fn users_of_the_agent_are_listed_and_cannot_forge_lines() {
    let mut found = diff(&sums(), &sums(), &blocks());
    found.used_by.push(AgentUse {
        kind: AgentUseKind::Schedule,
        id: "s".to_owned(),
        name: "Daily\n+ step x".to_owned(),
        version: Some(2),
    });
    assert!(found.is_empty());
    assert_eq!(
        to_text(&found),
        "No changes.\n  used by schedule \"Daily\\n+ step x\" (version 2)\n"
    );
}

#[test]
fn a_secret_is_hidden_wherever_it_appears() {
    let inputs = json!({"code": {"block": "input", "default": "s3cret-code", "secret": true}});
    let before = edited(json!([
        {"op": "set_inputs", "inputs": inputs},
        {"op": "add_step", "step": "mail", "with": {
            "block": "send", "to": "x", "headers": {"Authorization": "Bearer k-12345"},
        }},
    ]));
    let mut after = before.clone();
    after.name = "Uses s3cret-code".to_owned();
    after.description = "Sends k-12345".to_owned();
    for node in &mut after.nodes {
        if node.block_id.as_str() == "send" {
            // A secret at the end of what is shown must not be cut in half and then show.
            let text = format!("{} s3cret-code", "long ".repeat(78));
            node.input_default.insert("to".to_owned(), json!(text));
        }
    }
    let words =
        json!([{"op": "add_step", "step": "note", "with": {"block": "words", "text": "k-12345"}}]);
    let edits: Vec<GraphEdit> = serde_json::from_value(words).expect("edits");
    let agents: Vec<AgentInterface> = Vec::new();
    let after = apply(&after, &edits, &blocks(), &agents).expect("edited").graph;
    for diff in [diff(&before, &after, &blocks()), diff(&after, &before, &blocks())] {
        let shown = format!("{} {}", serde_json::to_string(&diff).expect("JSON"), to_text(&diff));
        assert!(!shown.contains("s3cret") && !shown.contains("k-123"), "{shown}");
        assert!(shown.contains("Uses <secret>") && shown.contains("Sends <secret>"), "{shown}");
    }
}
