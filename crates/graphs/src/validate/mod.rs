//! Validates a graph. `validate` reports what keeps it from running, at the node or link it concerns; `check` adds what
//! is probably a mistake and what the agent needs.

pub(crate) mod agents;
mod cycles;
mod endless_cycles;
#[cfg(test)]
mod exported_files;
#[cfg(test)]
pub(crate) mod fixtures;
pub(crate) mod index;
mod interface_names;
mod known_blocks;
mod linked_schemas;
mod links;
mod misspelled;
pub mod node_pins;
mod nodes;
mod placeholders;
mod reachability;
mod report;
#[cfg(test)]
mod report_tests;
mod secret_defaults;
#[cfg(test)]
mod tests;

use protocol::graph::{Graph, GraphProblem};
use protocol::limits::{GRAPH_BYTES, GRAPH_LINKS, GRAPH_NODES};

use self::index::GraphIndex;
pub(crate) use self::links::{free_inputs, link_pins, link_schemas};
pub(crate) use self::misspelled::misspelled_settings;
pub(crate) use self::nodes::choice_meant;
pub(crate) use self::placeholders::given_names;
pub use self::report::{CredentialsPin, GraphNeeds, GraphReport, NeededAgent, NeededBlock, check};
pub(crate) use self::secret_defaults::stored_secrets;
use crate::catalog::BlockSpecs;
use crate::problem::ProblemCode;

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
            // Edits apply to the outer agent, whose steps have other names.
            edit: None,
            ..problem
        }));
    }
    problems
}

fn one_graph(graph: &Graph, blocks: &dyn BlockSpecs) -> Vec<GraphProblem> {
    if graph.nodes.is_empty() {
        return vec![ProblemCode::Empty.of_graph("The graph has no nodes.")];
    }
    rules(&GraphIndex::read(graph, blocks))
}

/// The rules without which a graph cannot run.
fn rules(document: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let mut problems = nodes::check(document);
    problems.extend(links::check(document));
    problems.extend(cycles::check(document));
    problems
}

pub(crate) fn too_large(graph: &Graph) -> Option<GraphProblem> {
    let excess = |count: usize, limit: usize, what: &str| {
        let message = format!("The graph has {count} {what}; at most {limit} are allowed.");
        (count > limit).then(|| ProblemCode::TooLarge.of_graph(message))
    };
    let bytes = || serde_json::to_vec(graph).map_or(0, |text| text.len());
    excess(graph.nodes.len(), GRAPH_NODES, "nodes")
        .or_else(|| excess(graph.links.len(), GRAPH_LINKS, "links"))
        .or_else(|| excess(bytes(), GRAPH_BYTES, "bytes"))
}
