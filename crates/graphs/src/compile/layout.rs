//! Positions of nodes: one column per step along the links, from left to right. Nodes that have a position keep it.

use std::collections::HashMap;

use protocol::graph::Graph;
use serde_json::{Value, json};

const COLUMN: usize = 400;
const ROW: usize = 200;

pub(crate) fn place(graph: &mut Graph) {
    let columns = columns(graph);
    let mut rows: HashMap<usize, usize> = HashMap::new();
    for (node, column) in graph.nodes.iter_mut().zip(columns) {
        let row = rows.entry(column).or_default();
        let position = json!({ "x": column * COLUMN, "y": *row * ROW });
        *row += 1;
        if !node.metadata.get("position").is_some_and(Value::is_object) {
            node.metadata.insert("position".to_owned(), position);
        }
    }
}

/// The length of the longest path to each node. Links that close a cycle do not count.
fn columns(graph: &Graph) -> Vec<usize> {
    let index: HashMap<_, _> =
        graph.nodes.iter().enumerate().map(|(at, node)| (&node.id, at)).collect();
    let ends = |link: &protocol::graph::Link| {
        Some((*index.get(&link.source_id)?, *index.get(&link.sink_id)?))
    };
    let links: Vec<(usize, usize)> =
        graph.links.iter().filter_map(ends).filter(|(from, to)| from != to).collect();
    let mut waiting = vec![0_usize; graph.nodes.len()];
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (from, to) in &links {
        waiting[*to] += 1;
        leaving[*from].push(*to);
    }
    let mut columns = vec![0_usize; graph.nodes.len()];
    let mut placed = vec![false; graph.nodes.len()];
    let mut next: Vec<usize> = (0..waiting.len()).filter(|at| waiting[*at] == 0).collect();
    loop {
        while let Some(from) = next.pop() {
            if std::mem::replace(&mut placed[from], true) {
                continue;
            }
            for to in leaving[from].clone() {
                columns[to] = columns[to].max(columns[from] + 1);
                waiting[to] = waiting[to].saturating_sub(1);
                if waiting[to] == 0 && !placed[to] {
                    next.push(to);
                }
            }
        }
        // Only cycles are left: open one at its first node.
        match placed.iter().position(|placed| !placed) {
            Some(first) => next.push(first),
            None => return columns,
        }
    }
}
