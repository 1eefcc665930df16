//! Ids of nodes that are used twice.

use std::collections::{HashMap, HashSet};

use protocol::NodeId;
use protocol::graph::Graph;

use super::{AppliedFix, FixContext};
use crate::derived_id::derived_id;
use crate::problem::ProblemCode;
use crate::validate::index::GraphIndex;

/// Drops copies of a node, and gives other nodes with its id a new one. If links lead to the id, it is not known which of
/// the nodes they mean, and the nodes stay as they are.
pub(crate) fn distinct_nodes(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    let mut first: HashMap<&NodeId, usize> = HashMap::new();
    let repeated: Vec<(usize, usize)> = graph
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(at, node)| match first.get(&node.id) {
            Some(first) => Some((*first, at)),
            None => {
                first.insert(&node.id, at);
                None
            }
        })
        .collect();
    if repeated.is_empty() {
        return Vec::new();
    }
    let linked: HashSet<NodeId> = graph
        .links
        .iter()
        .flat_map(|link| [link.source_id.clone(), link.sink_id.clone()])
        .collect();
    let mut taken: HashSet<NodeId> = graph.nodes.iter().map(|node| node.id.clone()).collect();
    let (mut fixes, mut dropped, mut renamed) = (Vec::new(), HashSet::new(), Vec::new());
    let index = GraphIndex::read(graph, context.blocks);
    for (first, at) in repeated {
        let node = &graph.nodes[at];
        let problem = index.at_node(ProblemCode::DuplicateNode, node, "");
        if graph.nodes[first] == *node {
            dropped.insert(at);
            fixes.push(AppliedFix::of(problem, format!("Removed a copy of the node {}.", node.id)));
        } else if !linked.contains(&node.id) {
            let mut number = 2_usize;
            let id = loop {
                let parts = [graph.id.as_str(), node.id.as_str(), &number.to_string()];
                let id = NodeId(derived_id(&parts));
                if taken.insert(id.clone()) {
                    break id;
                }
                number += 1;
            };
            let message = format!("Gave the second node {} the id {id}.", node.id);
            fixes.push(AppliedFix::of(problem, message));
            renamed.push((at, id));
        }
    }
    for (at, id) in renamed {
        graph.nodes[at].id = id;
    }
    let mut at = 0;
    graph.nodes.retain(|_| {
        at += 1;
        !dropped.contains(&(at - 1))
    });
    fixes
}
