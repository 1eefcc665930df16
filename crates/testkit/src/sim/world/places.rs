//! Who may run: each slot has so many places, and those that wait get them in the order they were accepted.

use ports::Fenced;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{SessionId, TurnId};

use super::{State, TurnRow};

/// Whether a turn that was admitted has given its place to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    No,
    Yes,
    WantsBack,
}

impl State {
    /// What the turns of a session count for: its user, or the session itself when it has none.
    pub(super) fn slot_of(&self, session: &SessionId) -> String {
        let user = self.sessions.get(session).and_then(|row| row.session.user_id.clone());
        user.map_or_else(|| session.0.clone(), |user| user.0)
    }

    /// Turns of a slot that are in flight, and those that have a place.
    pub(super) fn taken(&self, slot: &str) -> (u32, u32) {
        let open = || self.turns.values().filter(|row| row.slot == slot && row.is_open());
        let in_flight = open().filter(|row| row.is_in_line()).count() as u32;
        (in_flight, open().filter(|row| row.has_place()).count() as u32)
    }

    pub fn step_aside(&mut self, claim: &TurnClaim) -> Fenced<Vec<TurnId>> {
        let Some(row) = self.held(claim) else { return Fenced::Stale };
        row.aside = Aside::Yes;
        let slot = row.slot.clone();
        Fenced::Done(self.admit(&slot))
    }

    pub fn step_back(&mut self, claim: &TurnClaim) -> Fenced<bool> {
        let Some(row) = self.held(claim) else { return Fenced::Stale };
        if row.aside == Aside::No {
            return Fenced::Done(true);
        }
        row.aside = Aside::WantsBack;
        let slot = row.slot.clone();
        self.admit(&slot);
        Fenced::Done(self.turns[&claim.turn_id].aside == Aside::No)
    }

    /// Gives the free places of a slot to the turns that want one back, then to those that have waited longest, and
    /// makes these due.
    pub(super) fn admit(&mut self, slot: &str) -> Vec<TurnId> {
        let mut due = Vec::new();
        while self.taken(slot).1 < self.caps.running {
            if let Some(back) = self.next_back(slot) {
                back.aside = Aside::No;
                continue;
            }
            let Some(next) = self.next_in(slot) else { break };
            let now = self.now;
            if let Some(row) = self.turns.get_mut(&next) {
                row.admitted = true;
                row.due = Some(now);
            }
            due.push(next);
        }
        due
    }

    fn next_back(&mut self, slot: &str) -> Option<&mut TurnRow> {
        let waiting = self.turns.values_mut().filter(|row| {
            row.slot == slot && row.is_open() && row.admitted && row.aside == Aside::WantsBack
        });
        waiting.min_by_key(|row| row.accepted)
    }

    /// Of each session only the first open turn may run, and those beside it.
    fn next_in(&self, slot: &str) -> Option<TurnId> {
        let waiting = self.turns.values().filter(|row| {
            let queued = row.turn.status == TurnStatus::Queued && row.rests_until.is_none();
            row.slot == slot && queued && !row.admitted
        });
        let first = waiting.filter(|row| self.is_next(row));
        first.min_by_key(|row| row.accepted).map(|row| row.turn.id.clone())
    }
}
