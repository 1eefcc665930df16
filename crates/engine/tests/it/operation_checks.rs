//! Every operation has one result, the history says the same, and whatever says that it was done was done.

use protocol::message::{Message, MessageRole, ToolOutcome};
use protocol::operation::OperationState;
use protocol::{CallId, TurnId};
use testkit::sim::Simulation;
use testkit::sim::world::State;

pub(crate) fn faults(sim: &Simulation, state: &State) -> Vec<String> {
    let mut faults = effect_faults(sim, state);
    for operation in state.operations.values() {
        let (id, call) = (&operation.task_id, &operation.call.id);
        let rows = state.sessions[&operation.session_id].messages.iter().map(|row| &row.message);
        let rows: Vec<&Message> = rows
            .filter(|said| said.turn_id == operation.asked_by)
            .filter(|said| said.tool_call_id.as_ref() == Some(call))
            .collect();
        let Some(result) = &operation.result else {
            faults.push(format!("L3: {id} has no result"));
            continue;
        };
        let agrees = match &rows[..] {
            [row] => row.content == result.output && row.outcome == Some(result.outcome),
            _ => false,
        };
        if !agrees || operation.state != OperationState::Ended {
            faults.push(format!("L4: {id} came to {result:?}, the history says {rows:?}"));
        }
    }
    faults
}

/// A result that says that something was done is true.
fn effect_faults(sim: &Simulation, state: &State) -> Vec<String> {
    let facts = sim.facts();
    let rows = state.sessions.values().flat_map(|row| &row.messages).map(|row| &row.message);
    let results = rows
        .filter(|said| said.role == MessageRole::Tool && said.outcome == Some(ToolOutcome::Ok))
        .filter(|said| !goes_on(said))
        .filter_map(|said| Some((said.turn_id.clone(), said.tool_call_id.clone()?)));
    let parked = state.turns.values().flat_map(|row| {
        let ended = row.calls.iter().filter(|call| {
            let end = call.parked.as_ref().and_then(|parked| parked.end.as_ref());
            end.is_some_and(|end| end.outcome == ToolOutcome::Ok)
        });
        ended.map(|call| (row.turn.id.clone(), call.call_id.clone()))
    });
    results
        .chain(parked)
        .map(|(turn, call)| carried_out_by(state, turn, call))
        .filter(|call| !facts.effects.contains_key(call))
        .map(|(turn, call)| format!("G10: {call} of {turn} has a result and never happened"))
        .collect()
}

/// A call of an operation is carried out by its own turn.
fn carried_out_by(state: &State, turn: TurnId, call: CallId) -> (TurnId, CallId) {
    let mut all = state.operations.values();
    let operation = all.find(|known| known.asked_by == turn && known.call.id == call);
    (operation.map_or(turn, |operation| operation.task_id.turn()), call)
}

/// The call was not over when this was said of it.
fn goes_on(said: &Message) -> bool {
    let output: serde_json::Value = serde_json::from_str(&said.content).unwrap_or_default();
    output["type"] == "background"
}
