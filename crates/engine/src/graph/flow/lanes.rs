//! The runs of every node that are in flight, in the order they began. Only the first of a lane flows, so that outputs
//! keep the order of inputs; the others wait for it with what they have emitted.

use std::collections::{HashMap, VecDeque};

use super::AT_WORK;
use crate::graph::plan::NodeAt;

/// Runs of one node that may be in flight. More would not work at the same time but wait, with their outputs, for one
/// that is slow.
const ROOM: usize = 2 * AT_WORK;

#[derive(Default)]
pub(super) struct Lanes(HashMap<NodeAt, VecDeque<u64>>);

impl Lanes {
    pub(super) fn push(&mut self, at: NodeAt, run: u64) {
        self.0.entry(at).or_default().push_back(run);
    }

    pub(super) fn remove(&mut self, at: NodeAt, run: u64) {
        if let Some(lane) = self.0.get_mut(&at) {
            lane.retain(|in_lane| *in_lane != run);
            if lane.is_empty() {
                self.0.remove(&at);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn has_room(&self, at: NodeAt) -> bool {
        self.0.get(&at).is_none_or(|lane| lane.len() < ROOM)
    }

    pub(super) fn first(&self, at: NodeAt) -> Option<u64> {
        self.0.get(&at)?.front().copied()
    }

    /// Every node with runs in flight, the one whose first run is the latest in front.
    pub(super) fn latest_first(&self) -> Vec<NodeAt> {
        let first = |(at, lane): (&NodeAt, &VecDeque<u64>)| Some((*lane.front()?, *at));
        let mut firsts: Vec<(u64, NodeAt)> = self.0.iter().filter_map(first).collect();
        firsts.sort_unstable_by(|a, b| b.cmp(a));
        firsts.into_iter().map(|(_, at)| at).collect()
    }
}
