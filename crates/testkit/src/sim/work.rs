//! Work on a turn, from the moment it begins to its end: by whom it may be begun, and beside what.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use protocol::{CallId, TurnId};

use super::Simulation;
use super::facts::Doing;
use super::node::Node;
use super::world::{Aside, Moment, State};

/// The part of a lease after which a worker that could not renew must have stopped.
const OURS: f64 = 0.7;
/// From the stop to the last thing that is still begun.
const SLACK: Duration = Duration::from_millis(50);

/// What was under way when everything fell asleep may take this long to be stopped after it has woken.
const WAKING: Duration = Duration::from_millis(600);

/// A model call or a tool call in progress; dropping it ends it.
pub(super) struct Work {
    node: Arc<Node>,
    doing: Doing,
}

impl Work {
    /// `call` is the tool call that it is, if it is not a call of the model.
    pub(super) fn begin(
        node: &Arc<Node>,
        turn: &TurnId,
        call: Option<&CallId>,
        what: &str,
    ) -> Self {
        let sim = &node.sim;
        let doing = Doing {
            node: node.number,
            turn: turn.clone(),
            call: call.cloned(),
            since: sim.world.now(),
        };
        let beside = beside(node, &doing);
        let faults = {
            let state = sim.world.state();
            [
                zombie(node, turn, what),
                out_of_turn(&state, &doing, &beside, what),
                over_the_cap(&state, &doing, &beside),
                over_the_workers(sim.workers, &state, &doing, &beside),
                without_a_place(node, &state, turn, what),
            ]
        };
        faults.into_iter().flatten().for_each(|fault| sim.violated(fault));
        sim.facts().at_work.push(doing.clone());
        Self { node: node.clone(), doing }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut facts = self.node.sim.facts();
        if let Some(place) = facts.at_work.iter().position(|other| *other == self.doing) {
            facts.at_work.remove(place);
        }
    }
}

impl Simulation {
    /// Whether a model call or a tool call of this turn is under way.
    pub fn is_at_work(&self, turn: &TurnId) -> bool {
        self.facts().at_work.iter().any(|doing| doing.turn == *turn)
    }
}

/// What others do at this moment, as far as they are awake.
fn beside(node: &Node, doing: &Doing) -> Vec<Doing> {
    let sim = &node.sim;
    let nodes = sim.nodes();
    let awake = |number: u32| {
        let node = nodes.get(number as usize - 1).and_then(|node| node.upgrade());
        node.is_some_and(|node| node.is_awake())
    };
    let facts = sim.facts();
    let excused = |since: Moment| since < facts.woke && sim.world.now() < facts.woke + WAKING;
    let others = facts.at_work.iter().filter(|other| {
        (other.node, &other.turn) != (doing.node, &doing.turn)
            && awake(other.node)
            && !excused(other.since)
    });
    others.cloned().collect()
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

/// Nobody works on two turns of the same session at once, except on operations, which run beside it.
fn out_of_turn(state: &State, doing: &Doing, beside: &[Doing], what: &str) -> Option<String> {
    let mine = state.turns.get(&doing.turn).filter(|row| row.is_in_line())?;
    let other = beside.iter().find(|other| {
        let row = state.turns.get(&other.turn).filter(|row| row.is_in_line());
        row.is_some_and(|row| row.turn.session_id == mine.turn.session_id)
    })?;
    let (here, there) = (doing.node, other.node);
    Some(format!(
        "G8: node {here} begins {what} for {} while node {there} works on {}",
        doing.turn, other.turn
    ))
}

/// Nobody works on too many turns of the same user.
fn over_the_cap(state: &State, doing: &Doing, beside: &[Doing]) -> Option<String> {
    let mine = state.turns.get(&doing.turn)?;
    let rows = beside.iter().filter(|other| is_foreground(state, other));
    let rows = rows.filter_map(|other| state.turns.get(&other.turn));
    let mut turns: BTreeSet<&TurnId> =
        rows.filter(|row| row.slot == mine.slot).map(|row| &row.turn.id).collect();
    turns.insert(&doing.turn);
    (turns.len() > state.caps.running as usize).then(|| format!("G8: at once: {turns:?}"))
}

/// A process works on no more turns than it has workers for.
fn over_the_workers(
    workers: usize,
    state: &State,
    doing: &Doing,
    beside: &[Doing],
) -> Option<String> {
    let here = beside.iter().filter(|other| other.node == doing.node);
    let here = here.filter(|other| is_foreground(state, other));
    let mut turns: BTreeSet<&TurnId> = here.map(|other| &other.turn).collect();
    turns.insert(&doing.turn);
    (turns.len() > workers).then(|| format!("L6: node {} works on {turns:?}", doing.node))
}

/// Whoever has given up its place takes it again before it goes on.
fn without_a_place(node: &Node, state: &State, turn: &TurnId, what: &str) -> Option<String> {
    let row = state.turns.get(turn)?;
    let facts = node.sim.facts();
    let mine = facts.held.get(&(turn.clone(), node.number));
    let holders = facts.held.iter().filter(|((held, _), _)| held == turn).map(|(_, at)| at);
    // Somebody else may have taken it over, and stepped aside.
    let newest = holders.max() == mine;
    (newest && row.is_open() && !row.has_place())
        .then(|| format!("L6: node {} begins {what} for {turn}, which is aside", node.number))
}

/// What needs the place and the worker of its turn: not a call that went on in the background.
fn is_foreground(state: &State, doing: &Doing) -> bool {
    let Some(row) = state.turns.get(&doing.turn) else { return false };
    let parked = row
        .calls
        .iter()
        .any(|call| call.parked.is_some() && Some(&call.call_id) == doing.call.as_ref());
    row.aside == Aside::No && !parked
}
