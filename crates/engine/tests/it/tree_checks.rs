//! Checks turns started by the calls of other turns: their number, their depth, and that a cancel includes them.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::limits::DelegationLimits;
use protocol::{SessionId, TurnId};
use testkit::sim::Simulation;
use testkit::sim::backend::{BackendState, TurnRow};

/// Checks that apply at any moment.
pub(crate) fn faults(state: &BackendState, tree: DelegationLimits) -> Vec<String> {
    let mut faults = Vec::new();
    let open = || state.turns.values().filter(|row| row.is_open());
    for row in open() {
        let parent = row.turn.parent.as_ref().and_then(|parent| state.turns.get(parent));
        if parent.is_some_and(|parent| parent.turn.cancel_requested) && !row.turn.cancel_requested {
            faults.push(format!("G9: {} continues although its parent was canceled", row.turn.id));
        }
        let children = open().filter(|child| is_child(child, &row.turn.id)).count();
        if children > tree.fan_out as usize {
            faults.push(format!("L5: {} has {children} running children", row.turn.id));
        }
    }
    let too_deep = state.sessions.values().filter(|row| row.session.depth > tree.depth);
    faults.extend(too_deep.map(|row| format!("L5: {} is too deep", row.session.id)));
    faults
}

/// After a confirmed cancel of this session, no turn that existed when it was requested is running.
pub(crate) fn nothing_runs(sim: &Simulation, session: &SessionId, asked: Duration) {
    let left: Vec<String> = {
        let state = sim.backend.state();
        let tree = tree_of(&state, session);
        let before = tree.iter().map(|turn| &state.turns[turn]).filter(|row| row.opened < asked);
        // With faults, a process may be cut off and notice the end of its turn only later.
        let calm = sim.faults.ends_at.is_zero();
        let left = before.filter(|row| row.is_open() || calm && sim.has_active_call(&row.turn.id));
        left.map(|row| format!("{} {:?}", row.turn.id, row.turn.status)).collect()
    };
    if !left.is_empty() {
        sim.report_violation(format!("G9: the cancel of {session} was confirmed, but {left:?}"));
    }
}

fn is_child(row: &TurnRow, parent: &TurnId) -> bool {
    row.turn.parent.as_ref() == Some(parent) && row.turn.operation.is_none()
}

/// The turns of the session and all turns they started.
fn tree_of(state: &BackendState, session: &SessionId) -> BTreeSet<TurnId> {
    let of_session = state.turns.values().filter(|row| row.turn.session_id == *session);
    let mut tree: BTreeSet<TurnId> = of_session.map(|row| row.turn.id.clone()).collect();
    loop {
        let children = state.turns.values().filter(|row| {
            let parent = row.turn.parent.as_ref();
            parent.is_some_and(|parent| tree.contains(parent)) && !tree.contains(&row.turn.id)
        });
        let children: Vec<TurnId> = children.map(|row| row.turn.id.clone()).collect();
        if children.is_empty() {
            return tree;
        }
        tree.extend(children);
    }
}
