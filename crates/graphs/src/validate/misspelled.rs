//! Reports settings that their block does not have, if the name is close to one that it has. Other unknown settings are
//! left alone: files of other installations contain many.

use std::collections::HashSet;

use protocol::graph::GraphProblem;

use super::index::{GraphIndex, IndexedNode};
use super::node_pins::{self, PinSchema};
use crate::pins;
use crate::problem::{ProblemCode, ProblemDetails};

pub(crate) fn check(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    index.in_order().flat_map(|placed| settings(index, placed)).collect()
}

fn settings(index: &GraphIndex<'_>, placed: IndexedNode<'_>) -> Vec<GraphProblem> {
    misspelled_settings(index, placed)
        .into_iter()
        .map(|(wrong, meant)| {
            let message =
                format!("{placed} has no input `{wrong}`. Did you mean `{meant}`? It is ignored.");
            let problem = index.at_pin(ProblemCode::UnknownInput, placed.node, &wrong, message);
            problem.expected(meant).got(wrong)
        })
        .collect()
}

/// Settings without a pin, with the pin that each probably means and that nothing else fills.
pub(crate) fn misspelled_settings(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
) -> Vec<(String, String)> {
    let Some(spec) = placed.spec else { return Vec::new() };
    let node = placed.node;
    let mut filled: HashSet<String> = node.input_default.keys().cloned().collect();
    let linked = index.arriving(&node.id).iter();
    filled.extend(linked.map(|link| pins::base(&link.sink_name).to_owned()));
    let mut found = Vec::new();
    for name in node.input_default.keys() {
        let is_unknown =
            matches!(node_pins::input(node, spec, pins::base(name)), PinSchema::Missing);
        // Names of one or two letters are too close to everything.
        if !is_unknown || pins::is_nested(name) || name.chars().count() < 3 {
            continue;
        }
        let known = node_pins::input_names(node, spec);
        let free: Vec<&str> = known.into_iter().filter(|pin| !filled.contains(*pin)).collect();
        if let Some(meant) = index.meant(name, free) {
            filled.insert(meant.clone());
            found.push((name.clone(), meant));
        }
    }
    found
}
