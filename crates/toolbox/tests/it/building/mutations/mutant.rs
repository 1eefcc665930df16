//! A changed agent, and what must be reported about it. What is expected is computed from the change and the blocks, not
//! by the rules under test.

use graphs::catalog::BlockSpecs;
use graphs::names::{NodeName, NodeNames};
use graphs::pins;
use graphs::validate::GraphReport;
use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::{Graph, Link, Node};
use protocol::{BlockId, NodeId};
use serde_json::{Map, Value};

pub(crate) struct Mutant {
    pub(crate) graph: Graph,
    /// What was changed, for the message of a failed test.
    pub(crate) change: String,
    pub(crate) verdict: Verdict,
}

pub(crate) enum Verdict {
    /// One of these problems must be reported.
    Fault(Vec<ExpectedProblem>),
    /// The change leaves an agent that runs as its author may have meant it.
    StaysValid,
}

/// A code at a node, and at one of its pins.
pub(crate) struct ExpectedProblem {
    pub(crate) code: &'static str,
    pub(crate) node: NodeId,
    pub(crate) path: String,
}

impl Mutant {
    pub(crate) fn is_caught(&self, report: &GraphReport) -> bool {
        let Verdict::Fault(expected) = &self.verdict else { return false };
        report.problems().any(|problem| {
            expected.iter().any(|expected| {
                problem.code == expected.code
                    && problem.node_id.as_ref() == Some(&expected.node)
                    && problem.path.as_deref() == Some(expected.path.as_str())
            })
        })
    }
}

/// An agent under change, with what is asked about it.
#[derive(Clone)]
pub(crate) struct Agent<'a> {
    pub(crate) graph: Graph,
    pub(crate) blocks: &'a dyn BlockSpecs,
}

impl<'a> Agent<'a> {
    pub(crate) fn spec(&self, node: &NodeId) -> &'a BlockSpec {
        let node = self.node(node);
        self.blocks.spec(&node.block_id).expect("a known block")
    }

    pub(crate) fn node(&self, id: &NodeId) -> &Node {
        self.graph.nodes.iter().find(|node| node.id == *id).expect("a node")
    }

    pub(crate) fn node_mut(&mut self, id: &NodeId) -> &mut Node {
        self.graph.nodes.iter_mut().find(|node| node.id == *id).expect("a node")
    }

    pub(crate) fn ids(&self) -> Vec<NodeId> {
        self.graph.nodes.iter().map(|node| node.id.clone()).collect()
    }

    pub(crate) fn ids_of(&self, kind: BlockKind) -> Vec<NodeId> {
        let mut ids = self.ids();
        ids.retain(|id| self.spec(id).kind == kind);
        ids
    }

    pub(crate) fn arriving(&self, node: &NodeId) -> impl Iterator<Item = &Link> {
        self.graph.links.iter().filter(move |link| link.sink_id == *node)
    }

    pub(crate) fn leaving(&self, node: &NodeId) -> impl Iterator<Item = &Link> {
        self.graph.links.iter().filter(move |link| link.source_id == *node)
    }

    pub(crate) fn is_linked(&self, node: &NodeId, pin: &str) -> bool {
        self.arriving(node).any(|link| pins::base(&link.sink_name) == pin)
    }

    /// Whether the node has a value for the pin that is not blank.
    pub(crate) fn is_set(&self, node: &NodeId, pin: &str) -> bool {
        let value = self.node(node).input_default.get(pin);
        value.is_some_and(|value| !value.is_null() && *value != "")
    }

    pub(crate) fn add_node(&mut self, id: &str, block: &str, settings: Value) -> NodeId {
        let input_default = settings.as_object().cloned().expect("an object");
        let metadata = Map::from_iter([("step".to_owned(), Value::from(id))]);
        let id = NodeId::from(id);
        let node = Node { id: id.clone(), block_id: BlockId::from(block), input_default, metadata };
        self.graph.nodes.push(node);
        id
    }

    pub(crate) fn add_link(&mut self, source: (&NodeId, &str), sink: (&NodeId, &str)) {
        self.graph.links.push(Link {
            id: format!("added-{}", self.graph.links.len()),
            source_id: source.0.clone(),
            sink_id: sink.0.clone(),
            source_name: source.1.to_owned(),
            sink_name: sink.1.to_owned(),
            is_static: false,
        });
    }

    /// A problem at a node, in the terms of the changed agent.
    pub(crate) fn at(
        &self,
        code: &'static str,
        node: &NodeId,
        pin: Option<&str>,
    ) -> ExpectedProblem {
        let names = NodeNames::of(&self.graph, self.blocks);
        let name = names.name(node);
        let path = match (name, pin) {
            (_, None) | (NodeName::Text(_), _) => name.path(),
            (NodeName::Output(_), Some("value")) => name.path(),
            (NodeName::Input(_), Some("value")) => format!("{}.default", name.path()),
            (_, Some(pin)) => {
                let pin = pin.replace("_$_0", "[0]").replace("_#_", ".");
                format!("{}.{pin}", name.path())
            }
        };
        ExpectedProblem { code, node: node.clone(), path }
    }

    pub(crate) fn fault(self, change: String, expected: Vec<ExpectedProblem>) -> Mutant {
        Mutant { graph: self.graph, change, verdict: Verdict::Fault(expected) }
    }

    pub(crate) fn stays_valid(self, change: String) -> Mutant {
        Mutant { graph: self.graph, change, verdict: Verdict::StaysValid }
    }
}
