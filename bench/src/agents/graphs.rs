//! The measured agents. Their nodes do very little, so that the engine is measured.

use serde_json::{Value, json};

const CALCULATOR: &str = "b1ab9b19-67a6-406d-abf5-2dba76d00c79";
const STEP_THROUGH: &str = "f66a3543-28d3-4ab5-8945-9b336371e2ce";

pub(crate) struct Agent {
    pub(crate) graph: Value,
    /// Node executions of one execution.
    pub(crate) node_runs: u64,
}

impl Agent {
    /// Steps through this many numbers and adds to each.
    pub(crate) fn stepping(items: usize) -> Self {
        let nodes = vec![stepper(0, items), adder(1)];
        Self::new("Stepping", nodes, vec![link(0, "item", 1, "a")], 1 + items)
    }

    /// Two nested loops over `side` numbers each, with an addition for every item.
    pub(crate) fn stepping_twice(side: usize) -> Self {
        let nodes = vec![stepper(0, side), stepper(1, side), adder(2)];
        // The first loop fills an item of the second loop's list, so the second loop runs for every item of the first.
        let links = vec![link(0, "item", 1, "items_$_0"), link(1, "item", 2, "a")];
        Self::new("Stepping twice", nodes, links, 1 + side + side * side)
    }

    /// Every node depends on the previous one.
    pub(crate) fn chain(nodes: usize) -> Self {
        let links = (1..nodes).map(|at| link(at - 1, "result", at, "a")).collect();
        Self::new("Chain", adders(nodes), links, nodes)
    }

    /// All nodes depend only on the first one.
    pub(crate) fn wide(nodes: usize) -> Self {
        let links = (1..nodes).map(|at| link(0, "result", at, "a")).collect();
        Self::new("Wide", adders(nodes), links, nodes)
    }

    fn new(name: &str, nodes: Vec<Value>, links: Vec<Value>, node_runs: usize) -> Self {
        let graph = json!({ "name": name, "nodes": nodes, "links": links });
        Self { graph, node_runs: node_runs as u64 }
    }
}

fn adders(count: usize) -> Vec<Value> {
    (0..count).map(adder).collect()
}

fn adder(at: usize) -> Value {
    let given = json!({ "operation": "Add", "a": 1, "b": 1 });
    json!({ "id": id(at), "block_id": CALCULATOR, "input_default": given })
}

fn stepper(at: usize, items: usize) -> Value {
    let items: Vec<usize> = (0..items).collect();
    json!({ "id": id(at), "block_id": STEP_THROUGH, "input_default": { "items": items } })
}

fn link(source: usize, output: &str, sink: usize, input: &str) -> Value {
    json!({
        "source_id": id(source), "source_name": output,
        "sink_id": id(sink), "sink_name": input,
    })
}

fn id(at: usize) -> String {
    format!("node-{at}")
}
