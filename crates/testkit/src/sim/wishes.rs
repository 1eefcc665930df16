//! What the simulated model writes as the arguments of its calls: which sub-session it goes on with, which call in the
//! background it asks after.

use protocol::TurnId;
use serde_json::{Value, json};

use super::dice::Dice;
use super::tools::{BACKGROUND, DELEGATE};
use super::world::State;

/// In milliseconds.
const LONGEST_WAIT: u64 = 8000;

pub(super) fn arguments(state: &State, turn: &TurnId, tool: &str, dice: &mut Dice) -> Value {
    match tool {
        DELEGATE => delegate(state, turn, dice),
        BACKGROUND => background(state, turn, dice),
        _ => json!({}),
    }
}

fn delegate(state: &State, turn: &TurnId, dice: &mut Dice) -> Value {
    let wait = if dice.chance(200) { 0 } else { dice.below(LONGEST_WAIT) };
    let mine = state.turns.get(turn).map(|row| &row.turn.session_id);
    let sessions = state.sessions.values();
    let mut children: Vec<_> = sessions
        .filter(|row| mine.is_some() && row.session.parent_session_id.as_ref() == mine)
        .map(|row| (row.created, row.session.id.clone()))
        .collect();
    // Their ids are not the same in every run.
    children.sort();
    if children.is_empty() || dice.chance(500) {
        return json!({ "wait": wait });
    }
    let (_, session) = dice.pick(&children).clone();
    let (look, cancel) = (dice.chance(500), dice.chance(300));
    json!({ "session": session, "wait": wait, "look": look, "cancel": cancel })
}

fn background(state: &State, turn: &TurnId, dice: &mut Dice) -> Value {
    let calls = state.turns.get(turn).map(|row| row.calls.as_slice()).unwrap_or_default();
    let parked: Vec<_> = calls.iter().filter_map(|call| call.parked.as_ref()).collect();
    if parked.is_empty() {
        return json!({});
    }
    let id = dice.pick(&parked).id.clone();
    json!({ "background_id": id, "wait": dice.below(LONGEST_WAIT / 2), "cancel": dice.chance(300) })
}
