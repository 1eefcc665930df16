//! Tracks running model calls and tool calls, and checks at the start of each call that its node holds a valid lease
//! and permit and that no other call runs that excludes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use protocol::{CallId, TurnId};

use super::Simulation;
use super::backend::{BackendState, PermitYield, SimTime};
use super::node::SimNode;
use super::observations::ActiveCall;

/// The share of a lease after which a worker that could not renew must have stopped.
const LEASE_SHARE: f64 = 0.7;
/// Tolerance for a call that starts while the worker is being stopped.
const SLACK: Duration = Duration::from_millis(50);

/// After a suspension, calls that were running before it may take this long to be stopped.
const RESUME_GRACE: Duration = Duration::from_millis(600);

/// Registers a running model call or tool call; dropping it ends the registration.
pub(crate) struct ActiveCallGuard {
    node: Arc<SimNode>,
    active: ActiveCall,
}

impl ActiveCallGuard {
    /// `call` is the tool call, or `None` for a model call.
    pub(crate) fn begin(
        node: &Arc<SimNode>,
        turn: &TurnId,
        call: Option<&CallId>,
        what: &str,
    ) -> Self {
        let sim = &node.sim;
        let active = ActiveCall {
            node: node.number,
            turn: turn.clone(),
            call: call.cloned(),
            since: sim.backend.now(),
        };
        let other_calls = other_calls(node, &active);
        let violations = {
            let state = sim.backend.state();
            [
                without_lease(node, turn, what),
                two_in_session(&state, &active, &other_calls, what),
                over_user_limit(&state, &active, &other_calls),
                over_worker_count(sim.workers, &state, &active, &other_calls),
                without_permit(node, &state, turn, what),
            ]
        };
        violations.into_iter().flatten().for_each(|violation| sim.report_violation(violation));
        sim.observations().active_calls.push(active.clone());
        Self { node: node.clone(), active }
    }
}

impl Drop for ActiveCallGuard {
    fn drop(&mut self) {
        let mut observations = self.node.sim.observations();
        if let Some(place) =
            observations.active_calls.iter().position(|other| *other == self.active)
        {
            observations.active_calls.remove(place);
        }
    }
}

impl Simulation {
    /// Whether a model call or a tool call of this turn is running.
    pub fn has_active_call(&self, turn: &TurnId) -> bool {
        self.observations().active_calls.iter().any(|active| active.turn == *turn)
    }
}

/// Calls of other turns or nodes that are running now, on nodes that are neither crashed nor paused.
fn other_calls(node: &SimNode, active: &ActiveCall) -> Vec<ActiveCall> {
    let sim = &node.sim;
    let nodes = sim.nodes();
    let running = |number: u32| {
        let node = nodes.get(number as usize - 1).and_then(|node| node.upgrade());
        node.is_some_and(|node| node.is_running())
    };
    let observations = sim.observations();
    let within_grace = |since: SimTime| {
        since < observations.resumed_at
            && sim.backend.now() < observations.resumed_at + RESUME_GRACE
    };
    let others = observations.active_calls.iter().filter(|other| {
        (other.node, &other.turn) != (active.node, &active.turn)
            && running(other.node)
            && !within_grace(other.since)
    });
    others.cloned().collect()
}

/// A node starts no call for a turn whose lease it may have lost.
fn without_lease(node: &SimNode, turn: &TurnId, what: &str) -> Option<String> {
    let now = node.sim.backend.now();
    let since = node.sim.observations().last_renewed.get(&(turn.clone(), node.number)).copied();
    let lease_valid = |since: Duration| now <= since + node.sim.lease.mul_f64(LEASE_SHARE) + SLACK;
    (!since.is_some_and(lease_valid)).then(|| {
        let number = node.number;
        format!("G3: node {number} begins {what} for {turn} at {now:?}, renewed at {since:?}")
    })
}

/// No two turns of a session run at once, except operations, which run concurrently with their session.
fn two_in_session(
    state: &BackendState,
    active: &ActiveCall,
    other_calls: &[ActiveCall],
    what: &str,
) -> Option<String> {
    let mine = state.turns.get(&active.turn).filter(|row| row.has_ordinal())?;
    let other = other_calls.iter().find(|other| {
        let row = state.turns.get(&other.turn).filter(|row| row.has_ordinal());
        row.is_some_and(|row| row.turn.session_id == mine.turn.session_id)
    })?;
    let (here, there) = (active.node, other.node);
    Some(format!(
        "G8: node {here} begins {what} for {} while node {there} works on {}",
        active.turn, other.turn
    ))
}

/// No user has more running turns than the limit allows.
fn over_user_limit(
    state: &BackendState,
    active: &ActiveCall,
    other_calls: &[ActiveCall],
) -> Option<String> {
    let mine = state.turns.get(&active.turn)?;
    let rows = other_calls.iter().filter(|other| is_foreground(state, other));
    let rows = rows.filter_map(|other| state.turns.get(&other.turn));
    let mut turns: BTreeSet<&TurnId> =
        rows.filter(|row| row.quota_key == mine.quota_key).map(|row| &row.turn.id).collect();
    turns.insert(&active.turn);
    (turns.len() > state.caps.running as usize).then(|| format!("G8: at once: {turns:?}"))
}

/// A node runs no more turns than it has workers.
fn over_worker_count(
    workers: usize,
    state: &BackendState,
    active: &ActiveCall,
    other_calls: &[ActiveCall],
) -> Option<String> {
    let here = other_calls.iter().filter(|other| other.node == active.node);
    let here = here.filter(|other| is_foreground(state, other));
    let mut turns: BTreeSet<&TurnId> = here.map(|other| &other.turn).collect();
    turns.insert(&active.turn);
    (turns.len() > workers).then(|| format!("L6: node {} works on {turns:?}", active.node))
}

/// A turn that yielded its permit reacquires it before it starts another call.
fn without_permit(
    node: &SimNode,
    state: &BackendState,
    turn: &TurnId,
    what: &str,
) -> Option<String> {
    let row = state.turns.get(turn)?;
    let observations = node.sim.observations();
    let mine = observations.last_renewed.get(&(turn.clone(), node.number));
    let holders =
        observations.last_renewed.iter().filter(|((held, _), _)| held == turn).map(|(_, at)| at);
    // Otherwise another node may have taken the turn over and yielded its permit.
    let newest = holders.max() == mine;
    (newest && row.is_open() && !row.has_permit())
        .then(|| format!("L6: node {} begins {what} for {turn}, which has no permit", node.number))
}

/// Whether the call needs the permit and worker of its turn: background calls do not.
fn is_foreground(state: &BackendState, active: &ActiveCall) -> bool {
    let Some(row) = state.turns.get(&active.turn) else { return false };
    let background = row
        .calls
        .iter()
        .any(|call| call.background.is_some() && Some(&call.call_id) == active.call.as_ref());
    row.permit_yield == PermitYield::None && !background
}
