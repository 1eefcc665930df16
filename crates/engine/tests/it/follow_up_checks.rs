//! Checks that every follow-up ends in exactly one way and that the history matches.

use std::collections::BTreeMap;

use protocol::chunk::Chunk;
use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::message::MessageRole;
use protocol::turn::TurnStatus;
use protocol::{MessageId, TurnId};
use testkit::sim::backend::BackendState;

/// The follow-ups that were delivered to the model of this turn.
pub(crate) fn delivered<'a>(state: &'a BackendState, turn: &TurnId) -> Vec<&'a FollowUp> {
    let all = state.follow_ups.iter().map(|row| &row.follow_up);
    all.filter(|one| one.turn_id == *turn && one.state == FollowUpState::Delivered).collect()
}

/// `calm`: no message was ever lost, so nothing was repeated.
pub(crate) fn faults(state: &BackendState, calm: bool) -> Vec<String> {
    let shown = shown(state);
    let mut faults = Vec::new();
    for follow_up in state.follow_ups.iter().map(|row| &row.follow_up) {
        let (id, turn) = (&follow_up.id, &follow_up.turn_id);
        let rows = state.sessions[&follow_up.session_id].messages.iter().map(|row| &row.message);
        let mine = rows.filter(|said| said.id == *id);
        let times = mine.clone().count();
        let there =
            mine.clone().all(|said| said.turn_id == *turn && said.role == MessageRole::User);
        let status = state.turns[turn].turn.status;
        let holds = match follow_up.state {
            FollowUpState::Pending => false,
            FollowUpState::Delivered => times == 1 && there && follow_up.step.is_some(),
            FollowUpState::Returned => times == 0 && status == TurnStatus::Failed,
            FollowUpState::Dropped => times == 0 && status == TurnStatus::Cancelled,
        };
        let seen = shown.get(&(turn.clone(), id.clone())).copied().unwrap_or(0);
        let most = usize::from(follow_up.state == FollowUpState::Delivered);
        if !holds || seen > most || calm && seen < most {
            let how = format!("{:?}, {times} times in the history, {seen} shown", follow_up.state);
            faults.push(format!("T7: {id} of {turn}, which is {status:?}, is {how}"));
        }
    }
    faults
}

/// How often the log of each turn shows that a follow-up was delivered.
fn shown(state: &BackendState) -> BTreeMap<(TurnId, MessageId), usize> {
    let mut shown = BTreeMap::new();
    for (task, log) in &state.logs {
        let frames = log.segments.iter().flat_map(|segment| segment.frames());
        let chunks = frames.filter_map(|frame| serde_json::from_slice(frame.json).ok());
        for chunk in chunks {
            let Chunk::DataPendingDrained { data } = chunk else { continue };
            for message in data.messages {
                *shown.entry((task.turn(), message.id)).or_default() += 1;
            }
        }
    }
    shown
}
