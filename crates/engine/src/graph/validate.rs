//! Validates a graph: reports everything that would keep it from running, at the node or link it concerns.

mod cycles;
#[cfg(test)]
mod exported_files;
#[cfg(test)]
pub(super) mod fixtures;
mod known_blocks;
mod links;
pub(super) mod node_pins;
mod nodes;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;

use protocol::NodeId;
use protocol::block::BlockSpec;
use protocol::graph::{Graph, GraphProblem, Link, Node};
use protocol::limits::{GRAPH_BYTES, GRAPH_LINKS, GRAPH_NODES};

use super::schema::BlockSpecs;

/// All problems that keep the graph from running, including those of its sub-graphs. Empty if the graph is valid.
pub fn validate(graph: &Graph, blocks: &dyn BlockSpecs) -> Vec<GraphProblem> {
    // A graph that is too large is not checked further: the limit is there to avoid that work.
    if let Some(problem) = too_large(graph) {
        return vec![problem];
    }
    let mut problems = one_graph(graph, blocks);
    for sub_graph in &graph.sub_graphs {
        let inside = validate(sub_graph, blocks).into_iter();
        problems.extend(inside.map(|problem| GraphProblem {
            message: format!("In the agent “{}” inside it: {}", sub_graph.name, problem.message),
            ..problem
        }));
    }
    problems
}

fn one_graph(graph: &Graph, blocks: &dyn BlockSpecs) -> Vec<GraphProblem> {
    if graph.nodes.is_empty() {
        return vec![GraphProblemCode::Empty.of_graph("The graph has no nodes.")];
    }
    let document = GraphIndex::read(graph, blocks);
    let mut problems = nodes::check(&document);
    problems.extend(links::check(&document));
    problems.extend(cycles::check(&document));
    problems
}

fn too_large(graph: &Graph) -> Option<GraphProblem> {
    let excess = |count: usize, limit: usize, what: &str| {
        let message = format!("The graph has {count} {what}; at most {limit} are allowed.");
        (count > limit).then(|| GraphProblemCode::TooLarge.of_graph(message))
    };
    let bytes = || serde_json::to_vec(graph).map_or(0, |text| text.len());
    excess(graph.nodes.len(), GRAPH_NODES, "nodes")
        .or_else(|| excess(graph.links.len(), GRAPH_LINKS, "links"))
        .or_else(|| excess(bytes(), GRAPH_BYTES, "bytes"))
}

/// A graph with its nodes indexed by id.
struct GraphIndex<'a> {
    graph: &'a Graph,
    nodes: HashMap<&'a NodeId, IndexedNode<'a>>,
    /// Incoming links by node.
    arriving: HashMap<&'a NodeId, Vec<&'a Link>>,
}

/// A node and its block, if the block exists.
#[derive(Clone, Copy)]
struct IndexedNode<'a> {
    node: &'a Node,
    spec: Option<&'a BlockSpec>,
}

impl<'a> GraphIndex<'a> {
    fn read(graph: &'a Graph, blocks: &'a dyn BlockSpecs) -> Self {
        let placed = |node: &'a Node| IndexedNode { node, spec: blocks.spec(&node.block_id) };
        let nodes = graph.nodes.iter().map(|node| (&node.id, placed(node))).collect();
        let mut arriving: HashMap<_, Vec<_>> = HashMap::new();
        for link in &graph.links {
            arriving.entry(&link.sink_id).or_default().push(link);
        }
        Self { graph, nodes, arriving }
    }

    fn arriving(&self, node: &NodeId) -> &[&'a Link] {
        self.arriving.get(node).map_or(&[], Vec::as_slice)
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

/// Kinds of problems, with names that are stable for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraphProblemCode {
    Empty,
    TooLarge,
    DuplicateNode,
    DuplicateLink,
    DuplicateInput,
    UnknownBlock,
    MissingInput,
    MissingAgent,
    WrongInput,
    MissingNode,
    UnknownOutput,
    UnknownInput,
    WrongType,
    DeadCycle,
}

impl GraphProblemCode {
    fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty_graph",
            Self::TooLarge => "too_large",
            Self::DuplicateNode => "duplicate_node",
            Self::DuplicateLink => "duplicate_link",
            Self::DuplicateInput => "duplicate_input",
            Self::UnknownBlock => "unknown_block",
            Self::MissingInput => "missing_input",
            Self::MissingAgent => "missing_agent",
            Self::WrongInput => "wrong_input",
            Self::MissingNode => "missing_node",
            Self::UnknownOutput => "unknown_output",
            Self::UnknownInput => "unknown_input",
            Self::WrongType => "type_mismatch",
            Self::DeadCycle => "dead_cycle",
        }
    }

    fn of_graph(self, message: impl Into<String>) -> GraphProblem {
        GraphProblem {
            node_id: None,
            link_id: None,
            code: self.name().to_owned(),
            message: message.into(),
        }
    }

    fn of_node(self, node: &Node, message: impl Into<String>) -> GraphProblem {
        GraphProblem { node_id: Some(node.id.clone()), ..self.of_graph(message) }
    }

    /// Reported at the node the link leads to, where it would be fixed.
    fn of_link(self, link: &Link, message: impl Into<String>) -> GraphProblem {
        GraphProblem {
            node_id: Some(link.sink_id.clone()),
            link_id: Some(link.id.clone()),
            ..self.of_graph(message)
        }
    }
}
