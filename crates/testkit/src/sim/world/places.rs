//! Who may run: each slot has so many places, and those that wait get them in the order they were accepted.

use protocol::turn::TurnStatus;
use protocol::{SessionId, TurnId};

use super::State;

impl State {
    /// What the turns of a session count for: its user, or the session itself when it has none.
    pub(super) fn slot_of(&self, session: &SessionId) -> String {
        let user = self.sessions.get(session).and_then(|row| row.session.user_id.clone());
        user.map_or_else(|| session.0.clone(), |user| user.0)
    }

    /// Turns of a slot that have not ended, and those of them that have a place.
    pub(super) fn taken(&self, slot: &str) -> (u32, u32) {
        let open = || self.turns.values().filter(|row| row.slot == slot && row.is_open());
        (open().count() as u32, open().filter(|row| row.admitted).count() as u32)
    }

    /// Gives the free places of a slot to the turns that have waited longest, and makes these due.
    pub(super) fn admit(&mut self, slot: &str) -> Vec<TurnId> {
        let mut due = Vec::new();
        while self.taken(slot).1 < self.caps.running {
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

    /// Of each session only the first open turn may run.
    fn next_in(&self, slot: &str) -> Option<TurnId> {
        let waiting = self.turns.values().filter(|row| {
            row.slot == slot && row.turn.status == TurnStatus::Queued && !row.admitted
        });
        let first = waiting.filter(|row| {
            self.first_open(&row.turn.session_id).is_some_and(|open| open.ordinal == row.ordinal)
        });
        first.min_by_key(|row| row.accepted).map(|row| row.turn.id.clone())
    }
}
