//! The running node runs of every node, in the order they started. Only the first run of a node passes its outputs on,
//! so that outputs keep the order of inputs; the others buffer theirs.

use std::collections::{HashMap, VecDeque};

use super::MAX_WORKING;
use crate::execution::plan::NodeAt;

/// How many runs of one node may be open. More would not run at the same time but wait, with their outputs, for a slow
/// one.
const MAX_RUNS_PER_NODE: usize = 2 * MAX_WORKING;

#[derive(Default)]
pub(crate) struct NodeOrder(HashMap<NodeAt, VecDeque<u64>>);

impl NodeOrder {
    pub(crate) fn push(&mut self, at: NodeAt, run: u64) {
        self.0.entry(at).or_default().push_back(run);
    }

    pub(crate) fn remove(&mut self, at: NodeAt, run: u64) {
        if let Some(runs) = self.0.get_mut(&at) {
            runs.retain(|other| *other != run);
            if runs.is_empty() {
                self.0.remove(&at);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn has_room(&self, at: NodeAt) -> bool {
        self.0.get(&at).is_none_or(|runs| runs.len() < MAX_RUNS_PER_NODE)
    }

    pub(crate) fn first(&self, at: NodeAt) -> Option<u64> {
        self.0.get(&at)?.front().copied()
    }

    /// Every node with open runs, ordered by their first run, the latest first.
    pub(crate) fn latest_first(&self) -> Vec<NodeAt> {
        let first = |(at, runs): (&NodeAt, &VecDeque<u64>)| Some((*runs.front()?, *at));
        let mut firsts: Vec<(u64, NodeAt)> = self.0.iter().filter_map(first).collect();
        firsts.sort_unstable_by(|a, b| b.cmp(a));
        firsts.into_iter().map(|(_, at)| at).collect()
    }
}
