//! Compares the schemas of linked pins beyond their types: choices, items of lists, members of objects.

use std::cell::Cell;

use protocol::graph::GraphProblem;

use super::index::GraphIndex;
use super::links::link_schemas;
use super::node_pins::PinSchema;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::types::misfit;

/// How many schemas are compared in one graph. Nodes define schemas of any size, and each may have many links.
const MAX_COMPARISONS: usize = 100_000;

pub(crate) fn check(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let left = Cell::new(MAX_COMPARISONS);
    let mut problems = Vec::new();
    for link in &index.graph.links {
        let Some((PinSchema::Typed(given), PinSchema::Typed(taken))) = link_schemas(index, link)
        else {
            continue;
        };
        let Some(found) = misfit(given, taken, &left) else { continue };
        let message = format!(
            "What `{}` emits does not fit `{}`: {}.",
            link.source_name, link.sink_name, found.why
        );
        let problem = index.at_link(ProblemCode::WrongType, link, message);
        problems.push(problem.expected(found.expected).got(found.got));
    }
    problems
}
