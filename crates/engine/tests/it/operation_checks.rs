//! Checks that every operation has one result, that the history matches it, and that reported effects happened.

use protocol::message::{Message, MessageRole, ToolOutcome};
use protocol::operation::OperationState;
use protocol::{CallId, TurnId};
use testkit::sim::Simulation;
use testkit::sim::backend::BackendState;

pub(crate) fn faults(sim: &Simulation, state: &BackendState) -> Vec<String> {
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
            faults
                .push(format!("L4: {id} has the result {result:?}, but the history has {rows:?}"));
        }
    }
    faults
}

/// Every successful result must have had its effect.
fn effect_faults(sim: &Simulation, state: &BackendState) -> Vec<String> {
    let observations = sim.observations();
    let rows = state.sessions.values().flat_map(|row| &row.messages).map(|row| &row.message);
    let results = rows
        .filter(|said| said.role == MessageRole::Tool && said.outcome == Some(ToolOutcome::Ok))
        .filter(|said| !is_in_background(said))
        .filter_map(|said| Some((said.turn_id.clone(), said.tool_call_id.clone()?)));
    let background = state.turns.values().flat_map(|row| {
        let ended = row.calls.iter().filter(|call| {
            let end = call.background.as_ref().and_then(|background| background.end.as_ref());
            end.is_some_and(|end| end.outcome == ToolOutcome::Ok)
        });
        ended.map(|call| (row.turn.id.clone(), call.call_id.clone()))
    });
    results
        .chain(background)
        .map(|(turn, call)| carried_out_by(state, turn, call))
        .filter(|call| !observations.effects.contains_key(call))
        .map(|(turn, call)| format!("G10: {call} of {turn} has a result and never happened"))
        .collect()
}

/// A call of an operation is carried out by the operation's own turn.
fn carried_out_by(state: &BackendState, turn: TurnId, call: CallId) -> (TurnId, CallId) {
    let mut all = state.operations.values();
    let operation = all.find(|known| known.asked_by == turn && known.call.id == call);
    (operation.map_or(turn, |operation| operation.task_id.turn()), call)
}

/// Whether the result only says that the call continues in the background.
fn is_in_background(said: &Message) -> bool {
    let output: serde_json::Value = serde_json::from_str(&said.content).unwrap_or_default();
    output["type"] == "background"
}
