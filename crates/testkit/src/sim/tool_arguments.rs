//! Arguments of the tool calls that the simulated model makes: which sub-session to resume, which background call to
//! wait for.

use protocol::TurnId;
use serde_json::{Value, json};

use super::backend::BackendState;
use super::rng::SimRng;
use super::tools::{BACKGROUND, DELEGATE};

/// In milliseconds.
const LONGEST_WAIT: u64 = 8000;

pub(crate) fn arguments(
    state: &BackendState,
    turn: &TurnId,
    tool: &str,
    rng: &mut SimRng,
) -> Value {
    match tool {
        DELEGATE => delegate(state, turn, rng),
        BACKGROUND => background(state, turn, rng),
        _ => json!({}),
    }
}

fn delegate(state: &BackendState, turn: &TurnId, rng: &mut SimRng) -> Value {
    let wait = if rng.chance(200) { 0 } else { rng.below(LONGEST_WAIT) };
    let mine = state.turns.get(turn).map(|row| &row.turn.session_id);
    let sessions = state.sessions.values();
    let mut children: Vec<_> = sessions
        .filter(|row| mine.is_some() && row.session.parent_session_id.as_ref() == mine)
        .map(|row| (row.created, row.session.id.clone()))
        .collect();
    // Sorted by creation: session ids are random and differ between runs of a seed.
    children.sort();
    if children.is_empty() || rng.chance(500) {
        return json!({ "wait": wait });
    }
    let (_, session) = rng.pick(&children).clone();
    let (look, cancel) = (rng.chance(500), rng.chance(300));
    json!({ "session": session, "wait": wait, "look": look, "cancel": cancel })
}

fn background(state: &BackendState, turn: &TurnId, rng: &mut SimRng) -> Value {
    let calls = state.turns.get(turn).map(|row| row.calls.as_slice()).unwrap_or_default();
    let background: Vec<_> = calls.iter().filter_map(|call| call.background.as_ref()).collect();
    if background.is_empty() {
        return json!({});
    }
    let id = rng.pick(&background).id.clone();
    json!({ "background_id": id, "wait": rng.below(LONGEST_WAIT / 2), "cancel": rng.chance(300) })
}
