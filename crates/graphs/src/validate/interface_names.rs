//! Reports two outputs of the agent with one name, and links that are drawn twice.

use std::collections::HashSet;

use protocol::block::BlockKind;
use protocol::graph::GraphProblem;

use super::index::GraphIndex;
use crate::problem::ProblemCode;
use crate::schema::interface_name;

pub(crate) fn check(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let mut problems = duplicate_outputs(index);
    problems.extend(repeated_links(index));
    problems
}

fn duplicate_outputs(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let mut names = HashSet::new();
    let mut problems = Vec::new();
    for placed in index.in_order() {
        let is_output = placed.spec.is_some_and(|spec| spec.kind == BlockKind::Output);
        let Some(name) = interface_name(placed.node).filter(|_| is_output) else { continue };
        if names.insert(name) {
            continue;
        }
        let message = format!(
            "Another output of the agent is already named “{name}”, so the values of both are mixed."
        );
        let problem = index.at_node(ProblemCode::DuplicateOutput, placed.node, message);
        // Only the first of them can be an output of the spec.
        let (path, step) = (Some(format!("outputs.{name}")), Some(name.to_owned()));
        problems.push(GraphProblem { path, step, ..problem });
    }
    problems
}

/// A link that is drawn twice delivers every value twice. Two links with one id are an error of their own.
fn repeated_links(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let (mut ends, mut ids) = (HashSet::new(), HashSet::new());
    let mut problems = Vec::new();
    for link in &index.graph.links {
        let is_new_id = ids.insert(&link.id);
        let both = (&link.source_id, &link.source_name, &link.sink_id, &link.sink_name);
        if !ends.insert(both) && is_new_id {
            let message = format!(
                "Two links lead from `{}` to `{}`, so every value arrives twice.",
                link.source_name, link.sink_name
            );
            let mut problem = index.at_link(ProblemCode::DuplicateLink, link, message);
            let from = index.names().reference(link).map(|from| from.to_string());
            problem.edit = from
                .zip(index.target(link))
                .map(|(from, to)| protocol::graph_edit::GraphEdit::Disconnect { from, to });
            problems.push(problem);
        }
    }
    problems
}
