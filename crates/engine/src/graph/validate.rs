//! What is wrong with a graph: everything that can be said before it runs, at the node or the link where it is.

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

/// Everything that keeps the graph from running, its sub-graphs included. Empty: it is sound.
pub fn validate(graph: &Graph, blocks: &dyn BlockSpecs) -> Vec<GraphProblem> {
    // What is too large is not looked at further: looking would cost what the limit is there to spare.
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
        return vec![ProblemCode::Empty.of_graph("The graph has no nodes.")];
    }
    let document = GraphIndex::read(graph, blocks);
    let mut problems = nodes::check(&document);
    problems.extend(links::check(&document));
    problems.extend(cycles::check(&document));
    problems
}

fn too_large(graph: &Graph) -> Option<GraphProblem> {
    let excess = |count: usize, limit: usize, what: &str| {
        let message = format!("The graph has {count} {what}; at most {limit} are possible.");
        (count > limit).then(|| ProblemCode::TooLarge.of_graph(message))
    };
    let bytes = || serde_json::to_vec(graph).map_or(0, |text| text.len());
    excess(graph.nodes.len(), GRAPH_NODES, "nodes")
        .or_else(|| excess(graph.links.len(), GRAPH_LINKS, "links"))
        .or_else(|| excess(bytes(), GRAPH_BYTES, "bytes"))
}

/// A graph with its nodes found by their ids.
struct GraphIndex<'a> {
    graph: &'a Graph,
    nodes: HashMap<&'a NodeId, IndexedNode<'a>>,
    /// The links that lead to a node.
    arriving: HashMap<&'a NodeId, Vec<&'a Link>>,
}

/// A node and its block, if there is such a block.
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
    /// The name that its author gave it, or the name of its block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.node.metadata.get("customized_name").and_then(|name| name.as_str());
        match (given, self.spec) {
            (Some(name), _) if !name.is_empty() => write!(f, "“{name}”"),
            (_, Some(spec)) => f.write_str(spec.name),
            (_, None) => write!(f, "the node {}", self.node.id),
        }
    }
}

/// The kinds of problems, by names that stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProblemCode {
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

impl ProblemCode {
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

    /// At the node that the link leads to, where a person would mend it.
    fn of_link(self, link: &Link, message: impl Into<String>) -> GraphProblem {
        GraphProblem {
            node_id: Some(link.sink_id.clone()),
            link_id: Some(link.id.clone()),
            ..self.of_graph(message)
        }
    }
}
