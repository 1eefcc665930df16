//! Work on a turn, from the moment it begins to its end: by whom it may be begun, and beside what.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use protocol::TurnId;

use super::node::Node;
use super::world::Moment;

/// The part of a lease after which a worker that could not renew must have stopped.
const OURS: f64 = 0.7;
/// From the stop to the last thing that is still begun.
const SLACK: Duration = Duration::from_millis(50);

/// What was under way when everything fell asleep may take this long to be stopped after it has woken.
const WAKING: Duration = Duration::from_millis(600);

/// A model call or a tool call in progress; dropping it ends it.
pub(super) struct Work {
    node: Arc<Node>,
    turn: TurnId,
    since: Moment,
}

impl Work {
    pub(super) fn begin(node: &Arc<Node>, turn: &TurnId, what: &str) -> Self {
        let faults = [zombie(node, turn, what), crowded(node, turn, what)];
        faults.into_iter().flatten().for_each(|fault| node.sim.violated(fault));
        let since = node.sim.world.now();
        node.sim.facts().at_work.push((node.number, turn.clone(), since));
        Self { node: node.clone(), turn: turn.clone(), since }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut facts = self.node.sim.facts();
        let mine = (self.node.number, self.turn.clone(), self.since);
        if let Some(place) = facts.at_work.iter().position(|other| *other == mine) {
            facts.at_work.remove(place);
        }
    }
}

/// Nobody begins anything for a turn that he may no longer hold.
fn zombie(node: &Node, turn: &TurnId, what: &str) -> Option<String> {
    let now = node.sim.world.now();
    let since = node.sim.facts().held.get(&(turn.clone(), node.number)).copied();
    let ours = |since: Duration| now <= since + node.sim.lease.mul_f64(OURS) + SLACK;
    (!since.is_some_and(ours)).then(|| {
        let number = node.number;
        format!("G3: node {number} begins {what} for {turn} at {now:?}, renewed at {since:?}")
    })
}

/// Beside it nobody works on the same session, and not on too many of the same user.
fn crowded(node: &Node, turn: &TurnId, what: &str) -> Option<String> {
    let sim = &node.sim;
    let others: BTreeSet<(u32, TurnId)> = {
        let nodes = sim.nodes();
        let awake = |number: u32| {
            nodes
                .get(number as usize - 1)
                .and_then(|node| node.upgrade())
                .is_some_and(|n| n.is_awake())
        };
        let facts = sim.facts();
        let excused = |since: Moment| since < facts.woke && sim.world.now() < facts.woke + WAKING;
        let others =
            facts.at_work.iter().filter(|(number, _, since)| awake(*number) && !excused(*since));
        let others = others.map(|(number, other, _)| (*number, other.clone()));
        others.filter(|other| *other != (node.number, turn.clone())).collect()
    };
    let state = sim.world.state();
    let mine = state.turns.get(turn)?;
    let mut beside = BTreeSet::from([turn]);
    for (number, other) in &others {
        let Some(row) = state.turns.get(other) else { continue };
        if row.turn.session_id == mine.turn.session_id {
            let here = node.number;
            return Some(format!(
                "G8: node {here} begins {what} for {turn} while node {number} works on {other}"
            ));
        }
        if row.slot == mine.slot {
            beside.insert(other);
        }
    }
    (beside.len() > state.caps.running as usize).then(|| format!("G8: at once: {beside:?}"))
}
