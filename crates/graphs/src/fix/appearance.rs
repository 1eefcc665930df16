//! What has no meaning but should be right in a repaired agent: static flags of links, positions of nodes.

use std::collections::{HashMap, HashSet};

use protocol::NodeId;
use protocol::graph::Graph;
use serde_json::{Value, json};

use super::{AppliedFix, FixContext};
use crate::compile::layout;

/// Marks links from blocks whose output is static. The engine treats them as static anyway. A link that is marked without
/// such a block stays static: that is a choice.
pub(crate) fn static_flags(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    let is_static: HashMap<NodeId, bool> = graph
        .nodes
        .iter()
        .map(|node| {
            let spec = context.blocks.spec(&node.block_id);
            (node.id.clone(), spec.is_some_and(|spec| spec.static_output))
        })
        .collect();
    let mut count = 0_usize;
    for link in &mut graph.links {
        if !link.is_static && is_static.get(&link.source_id).copied().unwrap_or(false) {
            link.is_static = true;
            count += 1;
        }
    }
    let message = format!("Marked {count} links as static, as their blocks are.");
    applied("is_static", message, count)
}

/// Places nodes without a position, and moves nodes that cover another one.
pub(crate) fn positions(graph: &mut Graph, _: &FixContext<'_>) -> Vec<AppliedFix> {
    const STEP: f64 = 200.0;
    let before: Vec<Option<Value>> =
        graph.nodes.iter().map(|node| node.metadata.get("position").cloned()).collect();
    layout::place(graph);
    let mut taken: HashSet<(u64, u64)> = HashSet::new();
    // Below each place that is taken comes the next one to try, so that a pile of nodes is spread in linear time.
    let mut next: HashMap<(u64, u64), f64> = HashMap::new();
    for node in &mut graph.nodes {
        let position = node.metadata.get("position");
        let axis = |name: &str| position?.get(name)?.as_f64();
        let (Some(x), Some(y)) = (axis("x"), axis("y")) else { continue };
        let start = (x.to_bits(), y.to_bits());
        if taken.insert(start) {
            continue;
        }
        let mut free = next.get(&start).copied().unwrap_or(y + STEP);
        // Far away from zero, a step may be too small to change the number.
        while free + STEP > free && !taken.insert((x.to_bits(), free.to_bits())) {
            free += STEP;
        }
        next.insert(start, free + STEP);
        node.metadata.insert("position".to_owned(), json!({ "x": x, "y": free }));
    }
    let is_moved = |(node, before): &(&protocol::graph::Node, &Option<Value>)| {
        node.metadata.get("position") != before.as_ref()
    };
    let count = graph.nodes.iter().zip(&before).filter(is_moved).count();
    applied("position", format!("Placed {count} nodes."), count)
}

fn applied(code: &str, message: String, count: usize) -> Vec<AppliedFix> {
    match count {
        0 => Vec::new(),
        _ => vec![AppliedFix { code: code.to_owned(), path: None, message, edit: None }],
    }
}
