//! Follow-ups: messages sent while a turn runs, and their state.

use ports::Fenced;
use ports::store::{FollowUpPushed, NewFollowUp};
use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::limits::FOLLOW_UPS;
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{MessageId, SessionId, TurnId};

use super::BackendState;

pub struct FollowUpRow {
    pub follow_up: FollowUp,
    message: NewMessage,
    fingerprint: String,
}

impl BackendState {
    pub fn push_follow_up(
        &mut self,
        owner: &Owner,
        session: &SessionId,
        new: &NewFollowUp,
    ) -> FollowUpPushed {
        if self.session(owner, session).is_none() {
            return FollowUpPushed::NoSession;
        }
        if let Some(client_id) = &new.client_id {
            if let Some(known) = self.known_follow_up(session, client_id, &new.fingerprint) {
                return known;
            }
            if self.is_known(session, client_id) {
                return FollowUpPushed::Reused;
            }
        }
        self.add_follow_up(session, new)
    }

    /// Adds a follow-up with an unknown id.
    pub(crate) fn add_follow_up(
        &mut self,
        session: &SessionId,
        new: &NewFollowUp,
    ) -> FollowUpPushed {
        // A turn with a requested cancel makes no more model calls.
        let running = self.first_open(session).filter(|row| !row.turn.cancel_requested);
        let Some(turn) = running.map(|row| row.turn.id.clone()) else {
            return FollowUpPushed::NoTurn;
        };
        let waiting = self.waiting_for(&turn).count() as u32;
        if waiting >= FOLLOW_UPS {
            return FollowUpPushed::Full;
        }
        let mut message = new.message.clone();
        if let Some(client_id) = &new.client_id {
            self.forget_follow_up(session, client_id);
            message.id = MessageId(client_id.clone());
        }
        let follow_up = FollowUp {
            id: message.id.clone(),
            session_id: session.clone(),
            turn_id: turn.clone(),
            text: message.content.clone(),
            state: FollowUpState::Pending,
            step: None,
            created_at: self.wall(),
        };
        if let Some(row) = self.turns.get_mut(&turn) {
            row.had_follow_ups = true;
        }
        let fingerprint = new.fingerprint.clone();
        self.follow_ups.push(FollowUpRow { follow_up: follow_up.clone(), message, fingerprint });
        FollowUpPushed::Waits { follow_up: Box::new(follow_up), waiting: waiting + 1 }
    }

    /// The follow-up with this id; `None` when it was returned to its sender or dropped.
    pub(crate) fn known_follow_up(
        &self,
        session: &SessionId,
        client_id: &str,
        fingerprint: &str,
    ) -> Option<FollowUpPushed> {
        let mut rows = self.follow_ups.iter();
        let row = rows.find(|row| row.is_named(session, client_id))?;
        match row.follow_up.state {
            _ if row.fingerprint != fingerprint => Some(FollowUpPushed::Reused),
            FollowUpState::Returned | FollowUpState::Dropped => None,
            _ => Some(FollowUpPushed::Known(Box::new(row.follow_up.clone()))),
        }
    }

    /// Removes the old row of a follow-up that is sent again.
    pub(crate) fn forget_follow_up(&mut self, session: &SessionId, client_id: &str) {
        self.follow_ups.retain(|row| !row.is_named(session, client_id));
    }

    pub fn list_follow_ups(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
    ) -> Option<Vec<FollowUp>> {
        self.session(owner, session)?;
        let newest_first = self.follow_ups.iter().rev().map(|row| &row.follow_up);
        let of_session = newest_first.filter(|follow_up| follow_up.session_id == *session);
        let mut listed: Vec<FollowUp> = of_session.take(limit as usize).cloned().collect();
        listed.reverse();
        Some(listed)
    }

    pub fn drain(&mut self, claim: &TurnClaim, step: u32) -> Fenced<Vec<FollowUp>> {
        if self.claimed_row(claim).is_none() {
            return Fenced::Stale;
        }
        let mut drained = Vec::new();
        let mut messages = Vec::new();
        for row in self.follow_ups.iter_mut().filter(|row| row.waits_for(&claim.turn_id)) {
            row.follow_up.state = FollowUpState::Delivered;
            row.follow_up.step = Some(step);
            drained.push(row.follow_up.clone());
            messages.push(row.message.clone());
        }
        for message in &messages {
            self.insert_message(&claim.turn_id, message);
        }
        Fenced::Done(drained)
    }

    /// Settles the pending follow-ups of a turn that failed or was canceled.
    pub(crate) fn settle_follow_ups(&mut self, turn: &TurnId, status: TurnStatus) {
        let state = match status {
            TurnStatus::Cancelled => FollowUpState::Dropped,
            _ => FollowUpState::Returned,
        };
        for row in self.follow_ups.iter_mut().filter(|row| row.waits_for(turn)) {
            row.follow_up.state = state;
        }
    }

    pub(crate) fn waiting_for<'a>(
        &'a self,
        turn: &'a TurnId,
    ) -> impl Iterator<Item = &'a FollowUpRow> {
        self.follow_ups.iter().filter(|row| row.waits_for(turn))
    }
}

impl FollowUpRow {
    fn is_named(&self, session: &SessionId, client_id: &str) -> bool {
        self.follow_up.session_id == *session && self.follow_up.id.as_str() == client_id
    }

    fn waits_for(&self, turn: &TurnId) -> bool {
        self.follow_up.turn_id == *turn && self.follow_up.state == FollowUpState::Pending
    }
}
