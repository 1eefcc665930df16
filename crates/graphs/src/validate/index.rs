//! A graph indexed for its rules: nodes by id, links by node, and how a problem is placed in the agent spec.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::fmt;

use protocol::NodeId;
use protocol::block::BlockSpec;
use protocol::graph::{Graph, GraphProblem, Link, Node};
use protocol::graph_edit::GraphEdit;
use serde_json::Value;

use crate::catalog::{BlockSpecs, closest, only_closest, similar_blocks};
use crate::names::{NodeName, NodeNames};
use crate::pins::{self, PathStep};
use crate::problem::ProblemCode;
use crate::reference::Reference;
use crate::spec::setting_name;

/// How many names are suggested per graph, and among how many candidates. Comparing names is the only work that grows
/// with the number of faults times the number of pins, so it is bounded.
const MAX_SUGGESTIONS: usize = 400;
const MAX_CANDIDATES: usize = 100;

pub(crate) struct GraphIndex<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) blocks: &'a dyn BlockSpecs,
    pub(crate) nodes: HashMap<&'a NodeId, IndexedNode<'a>>,
    /// Incoming and outgoing links by node.
    arriving: HashMap<&'a NodeId, Vec<&'a Link>>,
    leaving: HashMap<&'a NodeId, Vec<&'a Link>>,
    /// Only problems need names, so a valid graph is checked without them.
    names: OnceCell<NodeNames>,
    suggestions: Cell<usize>,
}

/// A node and its block, if the block exists.
#[derive(Clone, Copy)]
pub(crate) struct IndexedNode<'a> {
    pub(crate) node: &'a Node,
    pub(crate) spec: Option<&'a BlockSpec>,
}

impl<'a> GraphIndex<'a> {
    pub(crate) fn read(graph: &'a Graph, blocks: &'a dyn BlockSpecs) -> Self {
        let placed = |node: &'a Node| IndexedNode { node, spec: blocks.spec(&node.block_id) };
        let nodes = graph.nodes.iter().map(|node| (&node.id, placed(node))).collect();
        let mut arriving: HashMap<_, Vec<_>> = HashMap::new();
        let mut leaving: HashMap<_, Vec<_>> = HashMap::new();
        for link in &graph.links {
            arriving.entry(&link.sink_id).or_default().push(link);
            leaving.entry(&link.source_id).or_default().push(link);
        }
        let (names, suggestions) = (OnceCell::new(), Cell::new(MAX_SUGGESTIONS));
        Self { graph, blocks, nodes, arriving, leaving, names, suggestions }
    }

    pub(crate) fn arriving(&self, node: &NodeId) -> &[&'a Link] {
        self.arriving.get(node).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn leaving(&self, node: &NodeId) -> &[&'a Link] {
        self.leaving.get(node).map_or(&[], Vec::as_slice)
    }

    /// The nodes in the order of the graph, each id once.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = IndexedNode<'a>> + '_ {
        let is_indexed = |node: &IndexedNode<'a>| {
            self.nodes.get(&node.node.id).is_some_and(|known| std::ptr::eq(known.node, node.node))
        };
        let placed = self
            .graph
            .nodes
            .iter()
            .map(|node| IndexedNode { node, spec: self.blocks.spec(&node.block_id) });
        placed.filter(is_indexed)
    }

    pub(crate) fn names(&self) -> &NodeNames {
        self.names.get_or_init(|| NodeNames::of(self.graph, self.blocks))
    }

    /// A problem of a node.
    pub(crate) fn at_node(
        &self,
        code: ProblemCode,
        node: &Node,
        message: impl Into<String>,
    ) -> GraphProblem {
        let name = self.names().get(&node.id);
        GraphProblem {
            path: name.map(NodeName::path),
            step: name.map(step_of),
            ..code.of_node(node, message)
        }
    }

    /// A problem of a pin of a node.
    pub(crate) fn at_pin(
        &self,
        code: ProblemCode,
        node: &Node,
        pin: &str,
        message: impl Into<String>,
    ) -> GraphProblem {
        let path = self.names().get(&node.id).map(|name| pin_path(name, pin));
        GraphProblem { path, ..self.at_node(code, node, message) }
    }

    /// A problem of a link, at the pin that it leads to. If that node does not exist, at the pin that it comes from.
    pub(crate) fn at_link(
        &self,
        code: ProblemCode,
        link: &Link,
        message: impl Into<String>,
    ) -> GraphProblem {
        let ends = [(&link.sink_id, &link.sink_name), (&link.source_id, &link.source_name)];
        let named =
            ends.into_iter().find_map(|(id, pin)| Some((self.names().get(id)?, pin.as_str())));
        let path =
            named.map_or_else(|| format!("links[{}]", link.id), |(name, pin)| pin_path(name, pin));
        GraphProblem {
            path: Some(path),
            step: named.map(|(name, _)| step_of(name)),
            ..code.of_link(link, message)
        }
    }

    /// The name of the step, if the node is one.
    pub(crate) fn step(&self, node: &NodeId) -> Option<&str> {
        match self.names().get(node)? {
            NodeName::Step(name) => Some(name),
            _ => None,
        }
    }

    /// The edit that sets a pin of a step. Only steps are edited pin by pin.
    pub(crate) fn set(&self, node: &Node, pin: &str, value: Option<Value>) -> Option<GraphEdit> {
        let step = self.step(&node.id)?.to_owned();
        Some(GraphEdit::Set { step, pin: pin.to_owned(), value })
    }

    /// Where a link leads to, as edits name it.
    pub(crate) fn target(&self, link: &Link) -> Option<String> {
        match self.names().get(&link.sink_id)? {
            NodeName::Step(step) => Some(Reference::pin(step, &link.sink_name).to_string()),
            NodeName::Output(name) if link.sink_name == "value" => {
                Some(Reference::pin("outputs", name).to_string())
            }
            _ => None,
        }
    }

    /// The candidate that was probably meant.
    pub(crate) fn meant<'c>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<String> {
        self.may_suggest()
            .then(|| closest(name, candidates.into_iter().take(MAX_CANDIDATES)))?
            .map(str::to_owned)
    }

    /// The candidate that was certainly meant: no other is as close.
    pub(crate) fn only_meant<'c>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<String> {
        self.may_suggest()
            .then(|| only_closest(name, candidates.into_iter().take(MAX_CANDIDATES)))?
            .map(str::to_owned)
    }

    pub(crate) fn similar_blocks(&self, name: &str) -> Vec<String> {
        match self.may_suggest() {
            true => similar_blocks(self.blocks, name),
            false => Vec::new(),
        }
    }

    fn may_suggest(&self) -> bool {
        let left = self.suggestions.get();
        self.suggestions.set(left.saturating_sub(1));
        left > 0
    }
}

impl fmt::Display for IndexedNode<'_> {
    /// The name given by the author, or the name of the block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.node.metadata.get("customized_name").and_then(|name| name.as_str());
        match (given, self.spec) {
            (Some(name), _) if !name.is_empty() => write!(f, "“{name}”"),
            (_, Some(spec)) => f.write_str(spec.name),
            (_, None) => write!(f, "the node {}", self.node.id),
        }
    }
}

/// Where a pin is in the spec: `steps.page.url`, `steps.fill.values.name`, `outputs.tide`.
pub(crate) fn pin_path(name: &NodeName, pin: &str) -> String {
    let node = name.path();
    match (name, pin) {
        // The place of a text is the pin that it is for.
        (NodeName::Text(_), _) | (NodeName::Input(_) | NodeName::Output(_), "name") => node,
        (NodeName::Output(_), "value") => node,
        (NodeName::Input(_), pin) if pins::base(pin) == "result" => node,
        (NodeName::Input(_), setting) => format!("{node}.{}", setting_name(setting)),
        _ => {
            let mut path = format!("{node}.{}", pins::base(pin));
            for step in pins::steps(pin).unwrap_or_default() {
                match step {
                    PathStep::Key(key) => path.extend([".", key]),
                    PathStep::Index(index) => path.push_str(&format!("[{index}]")),
                }
            }
            path
        }
    }
}

/// The name of a step, input or output. A text belongs to the step whose pin it fills.
fn step_of(name: &NodeName) -> String {
    let place = match name {
        NodeName::Text(path) => path.split('.').nth(1).unwrap_or(path),
        other => other.as_str(),
    };
    place.to_owned()
}
