//! The guarantees, asked of what a simulation has left behind, and some of them while it goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::limits::CRASHED_ATTEMPTS;
use protocol::message::{Message, Outcome, Role};
use protocol::turn::{FailureCode, TurnStatus};
use protocol::{CallId, TurnId};
use testkit::sim::Simulation;
use testkit::sim::world::{State, TurnRow};

use crate::log_checks;

/// How often the world is looked at while it goes on.
const LOOK: Duration = Duration::from_millis(500);
/// From the end of a lease, or of the faults, to the next claim: the sweeper, and the half minute after which a turn
/// that was pushed is pushed again.
const ORPHANED: Duration = Duration::from_secs(40);
/// What the simulated model says it has read, with every answer.
const PROMPT_TOKENS: u64 = 3;

/// Looks again and again until the world has ended or is broken.
pub(crate) async fn watch(sim: &Simulation) {
    loop {
        tokio::time::sleep(LOOK).await;
        let faults = running_faults(&sim.world.state(), sim.weather.until);
        let broken = !faults.is_empty() || !sim.facts().violations.is_empty();
        faults.into_iter().for_each(|fault| sim.violated(fault));
        if broken {
            return;
        }
    }
}

fn running_faults(state: &State, until: Duration) -> Vec<String> {
    let mut faults = Vec::new();
    let mut sessions = BTreeSet::new();
    let mut slots: BTreeMap<&str, u32> = BTreeMap::new();
    for row in state.turns.values().filter(|row| row.turn.status == TurnStatus::Running) {
        let id = &row.turn.id;
        if !sessions.insert(&row.turn.session_id) {
            faults.push(format!("G8: {} runs beside {id}", row.turn.session_id));
        }
        if row.admitted {
            *slots.entry(&row.slot).or_default() += 1;
        }
        let expired = row.lease_until.unwrap_or_default().max(until);
        if state.now > expired + ORPHANED {
            faults.push(format!("G2: {id} is running, its lease ran out at {expired:?}"));
        }
    }
    for row in state.turns.values().filter(|row| row.is_open()) {
        if row.cancelled.is_some_and(|at| state.now > at.max(until) + ORPHANED) {
            faults.push(format!("G9: {} was cancelled at {:?}", row.turn.id, row.cancelled));
        }
    }
    let over = slots.into_iter().filter(|(_, running)| *running > state.caps.running);
    faults.extend(over.map(|(slot, running)| format!("G8: {running} turns of {slot} run")));
    faults
}

/// Says which turns have not come to an end in all the time they had.
pub(crate) fn name_unsettled(sim: &Simulation) {
    let state = sim.world.state();
    let open = state.turns.values().filter(|row| row.is_open());
    let open: Vec<String> =
        open.map(|row| format!("{} {:?}", row.turn.id, row.turn.status)).collect();
    drop(state);
    sim.violated(format!("G1: no end of {open:?}"));
}

/// Everything that can be told from the end.
pub(crate) fn judge(sim: &Simulation) {
    if !sim.facts().violations.is_empty() {
        return;
    }
    let faults: Vec<String> = {
        let (state, paid) = (sim.world.state(), sim.facts().paid.clone());
        let turns = state
            .turns
            .values()
            .flat_map(|row| turn_faults(&state, row, paid.get(&row.turn.id).copied().unwrap_or(0)));
        let effects = effect_faults(sim, &state);
        turns.chain(order_faults(sim, &state)).chain(effects).collect()
    };
    faults.into_iter().for_each(|fault| sim.violated(fault));
}

fn turn_faults(state: &State, row: &TurnRow, paid: u64) -> Vec<String> {
    let id = &row.turn.id;
    let mut faults = Vec::new();
    let mut holds = |fact: bool, what: &str| {
        if !fact {
            faults.push(format!("{what}: {id} is {:?} {:?}", row.turn.status, row.turn.error));
        }
    };
    let said = said_by(state, id);
    let answers = said.iter().filter(|said| said.role == Role::Assistant && !is_partial(said));
    let answers: Vec<&Message> = answers.copied().collect();
    let status = row.turn.status;
    holds(status.is_final(), "G1: a turn has an end");
    holds(row.turn.error.is_some() == (status == TurnStatus::Failed), "G6: a failure has a reason");
    holds(
        status != TurnStatus::Cancelled || row.turn.cancel_requested,
        "G9: only what was cancelled is",
    );
    let code = row.turn.error.as_ref().map(|error| error.code);
    holds(
        row.turn.attempt <= CRASHED_ATTEMPTS
            || code == Some(FailureCode::CrashLoop)
            || status == TurnStatus::Cancelled,
        "G2: a turn that kills its workers is given up",
    );
    holds(
        !matches!(code, Some(FailureCode::Internal | FailureCode::StorageFull)),
        "G19: faults that pass cost time and nothing else",
    );
    holds(said.first().is_some_and(|said| said.role == Role::User), "G26: a turn has its message");
    holds(said.iter().filter(|said| said.role == Role::User).count() == 1, "G7: once");
    let final_answers = answers.iter().filter(|said| said.tool_calls.is_empty()).count();
    holds(
        final_answers == usize::from(status == TurnStatus::Completed),
        "G5: history has exactly one answer",
    );
    // What the model ended without an answer was paid for, too; what a takeover has made it say again was not stored.
    let counted = row.turn.usage.prompt_tokens / PROMPT_TOKENS;
    holds((answers.len() as u64..=paid).contains(&counted), "G10: what was used is counted once");
    holds(calls(&said) == results(&said), "G26: every call has exactly one result");
    let log = &state.logs[&id.task()];
    faults.extend(log_checks::faults(row, log, answers.last().copied()));
    faults
}

fn order_faults(sim: &Simulation, state: &State) -> Vec<String> {
    let mut faults = Vec::new();
    let mut last: BTreeMap<_, (i64, &TurnId)> = BTreeMap::new();
    let asked = sim.facts().asked.clone();
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

/// A result that says that something was done is true.
fn effect_faults(sim: &Simulation, state: &State) -> Vec<String> {
    let facts = sim.facts();
    let rows = state.sessions.values().flat_map(|row| &row.messages).map(|row| &row.message);
    rows.filter(|said| said.role == Role::Tool && said.outcome == Some(Outcome::Ok))
        .filter_map(|said| Some((said.turn_id.clone(), said.tool_call_id.clone()?)))
        .filter(|call| !facts.effects.contains_key(call))
        .map(|(turn, call)| format!("G10: {call} of {turn} has a result and never happened"))
        .collect()
}

fn said_by<'a>(state: &'a State, turn: &TurnId) -> Vec<&'a Message> {
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
