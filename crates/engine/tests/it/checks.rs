//! Checks the guarantees on the final state of a simulation, and some of them while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::limits::{CRASHED_ATTEMPTS, DelegationLimits};
use protocol::message::{Message, MessageRole};
use protocol::turn::{FailureCode, TurnStatus};
use protocol::{CallId, TurnId};
use testkit::sim::Simulation;
use testkit::sim::backend::{BackendState, TurnRow};

use crate::{follow_up_checks, log_checks, operation_checks, tree_checks};

/// How often the running simulation is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Longest time from the end of a lease, or of the faults, to the next claim: a sweep, plus the half minute after which
/// a pushed turn is pushed again.
const MAX_RECLAIM_DELAY: Duration = Duration::from_secs(40);
/// Prompt tokens that the simulated model reports with every answer.
const PROMPT_TOKENS: u64 = 3;

/// Checks repeatedly until a guarantee is broken.
pub(crate) async fn watch(sim: &Simulation, tree: DelegationLimits) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let faults = running_faults(&sim.backend.state(), sim.faults.ends_at, tree);
        let broken = !faults.is_empty() || !sim.observations().violations.is_empty();
        faults.into_iter().for_each(|fault| sim.report_violation(fault));
        if broken {
            return;
        }
    }
}

fn running_faults(state: &BackendState, until: Duration, tree: DelegationLimits) -> Vec<String> {
    let mut faults = tree_checks::faults(state, tree);
    let mut sessions = BTreeSet::new();
    for row in state.turns.values().filter(|row| row.turn.status == TurnStatus::Running) {
        let id = &row.turn.id;
        if row.has_ordinal() && !sessions.insert(&row.turn.session_id) {
            faults.push(format!("G8: {} runs beside {id}", row.turn.session_id));
        }
        let expired = row.lease_until.unwrap_or_default().max(until);
        if state.now > expired + MAX_RECLAIM_DELAY {
            faults.push(format!("G2: {id} is running, but its lease expired at {expired:?}"));
        }
    }
    for row in state.turns.values().filter(|row| row.is_open()) {
        if row.cancelled.is_some_and(|at| state.now > at.max(until) + MAX_RECLAIM_DELAY) {
            faults.push(format!("G9: {} was canceled at {:?}", row.turn.id, row.cancelled));
        }
    }
    faults
}

/// Reports the turns that have not ended within their time.
pub(crate) fn report_unsettled(sim: &Simulation) {
    let state = sim.backend.state();
    let open = state.turns.values().filter(|row| row.is_open());
    let open: Vec<String> =
        open.map(|row| format!("{} {:?}", row.turn.id, row.turn.status)).collect();
    let unheard = !state.completions.is_empty();
    drop(state);
    sim.report_violation(format!("G1: no end of {open:?}, completions left: {unheard}"));
}

/// All checks of the final state.
pub(crate) fn check_end(sim: &Simulation) {
    if !sim.observations().violations.is_empty() {
        return;
    }
    let faults: Vec<String> = {
        let (state, paid) = (sim.backend.state(), sim.observations().completed_model_calls.clone());
        let calm = sim.faults.ends_at.is_zero();
        let turns = state
            .turns
            .values()
            .flat_map(|row| turn_faults(&state, row, paid.get(&row.turn.id).copied().unwrap_or(0)));
        let order = order_faults(sim, &state).into_iter();
        let beside = order.chain(follow_up_checks::faults(&state, calm));
        turns.chain(beside).chain(operation_checks::faults(sim, &state)).collect()
    };
    faults.into_iter().for_each(|fault| sim.report_violation(fault));
}

fn turn_faults(state: &BackendState, row: &TurnRow, paid: u64) -> Vec<String> {
    let id = &row.turn.id;
    let mut faults = Vec::new();
    let mut holds = |fact: bool, what: &str| {
        if !fact {
            faults.push(format!("{what}: {id} is {:?} {:?}", row.turn.status, row.turn.error));
        }
    };
    let said = said_by(state, id);
    let answers =
        said.iter().filter(|said| said.role == MessageRole::Assistant && !is_partial(said));
    let answers: Vec<&Message> = answers.copied().collect();
    let status = row.turn.status;
    holds(status.is_final(), "G1: a turn has an end");
    holds(row.turn.error.is_some() == (status == TurnStatus::Failed), "G6: a failure has a reason");
    holds(
        status != TurnStatus::Cancelled || row.turn.cancel_requested,
        "G9: only canceled turns have the status canceled",
    );
    let code = row.turn.error.as_ref().map(|error| error.code);
    holds(
        row.turn.attempt <= CRASHED_ATTEMPTS
            || code == Some(FailureCode::CrashLoop)
            || status == TurnStatus::Cancelled,
        "G2: a turn that keeps crashing its workers fails",
    );
    holds(
        !matches!(code, Some(FailureCode::Internal | FailureCode::StorageFull)),
        "G19: temporary faults cost only time",
    );
    // An operation answers a call and not a message.
    let asked = usize::from(row.turn.operation.is_none());
    let first_asks = said.first().is_some_and(|said| said.role == MessageRole::User);
    holds(asked == 0 || first_asks, "G26: a turn has its message");
    let followed_up = follow_up_checks::delivered(state, id);
    let users = said.iter().filter(|said| said.role == MessageRole::User).count();
    holds(users == asked + followed_up.len(), "G7: once");
    let final_answers = answers.iter().filter(|said| said.tool_calls.is_empty()).count();
    // Each step that began with follow-ups may have been preceded by an answer that was not the last one.
    let steps: BTreeSet<_> = followed_up.iter().map(|follow_up| follow_up.step).collect();
    let completed = usize::from(status == TurnStatus::Completed);
    // Follow-ups that arrived before the end also turn the last answer into a step.
    let unheard = usize::from(row.had_follow_ups && completed == 0);
    holds(
        (completed..=completed + steps.len() + unheard).contains(&final_answers),
        "G5: history has exactly one answer",
    );
    let background = row.calls.iter().filter_map(|call| call.background.as_ref());
    holds(
        background.clone().all(|background| background.end.is_some()),
        "L2: every background call has an end",
    );
    // A model call without an answer counts as used too; one that was repeated after a takeover was not stored.
    let counted = row.turn.usage.prompt_tokens / PROMPT_TOKENS;
    holds((answers.len() as u64..=paid).contains(&counted), "G10: usage is counted once");
    holds(calls(&said) == results(&said), "G26: every call has exactly one result");
    let log = &state.logs[&id.task()];
    faults.extend(log_checks::faults(row, log, answers.last().copied()));
    faults
}

fn order_faults(sim: &Simulation, state: &BackendState) -> Vec<String> {
    let mut faults = Vec::new();
    let mut last: BTreeMap<_, (i64, &TurnId)> = BTreeMap::new();
    let asked = sim.observations().first_model_calls.clone();
    for (id, _) in &asked {
        let row = &state.turns[id];
        if let Some((ordinal, before)) =
            last.insert(&row.turn.session_id, (row.ordinal, &row.turn.id))
            && ordinal > row.ordinal
        {
            faults.push(format!("G8: {before} was answered before {id}"));
        }
    }
    faults
}

fn said_by<'a>(state: &'a BackendState, turn: &TurnId) -> Vec<&'a Message> {
    let rows = state.sessions.values().flat_map(|row| &row.messages);
    rows.map(|row| &row.message).filter(|said| said.turn_id == *turn).collect()
}

fn is_partial(said: &Message) -> bool {
    said.metadata.as_ref().is_some_and(|metadata| metadata["partial"] == true)
}

fn calls(said: &[&Message]) -> Vec<CallId> {
    sorted(said.iter().flat_map(|said| &said.tool_calls).map(|call| call.id.clone()).collect())
}

fn results(said: &[&Message]) -> Vec<CallId> {
    sorted(said.iter().filter_map(|said| said.tool_call_id.clone()).collect())
}

fn sorted(mut ids: Vec<CallId>) -> Vec<CallId> {
    ids.sort();
    ids
}
