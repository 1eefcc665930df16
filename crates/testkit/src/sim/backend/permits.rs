//! Concurrency permits: each quota key has a fixed number, and waiting turns get them in order of acceptance.

use ports::Fenced;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{SessionId, TurnId};

use super::{BackendState, TurnRow};

/// Whether an admitted turn has yielded its permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermitYield {
    None,
    Yielded,
    Reacquiring,
}

impl BackendState {
    /// The key that the turns of a session count against: its user, or the session itself without a user.
    pub(crate) fn quota_key_of(&self, session: &SessionId) -> String {
        let user = self.sessions.get(session).and_then(|row| row.session.user_id.clone());
        user.map_or_else(|| session.0.clone(), |user| user.0)
    }

    /// Number of in-flight turns of a quota key, and of those with a permit.
    pub(crate) fn permit_usage(&self, quota_key: &str) -> (u32, u32) {
        let open = || self.turns.values().filter(|row| row.quota_key == quota_key && row.is_open());
        let in_flight = open().filter(|row| row.has_ordinal()).count() as u32;
        (in_flight, open().filter(|row| row.has_permit()).count() as u32)
    }

    pub fn step_aside(&mut self, claim: &TurnClaim) -> Fenced<Vec<TurnId>> {
        let Some(row) = self.claimed_row(claim) else { return Fenced::Stale };
        row.permit_yield = PermitYield::Yielded;
        let quota_key = row.quota_key.clone();
        Fenced::Done(self.admit(&quota_key))
    }

    pub fn step_back(&mut self, claim: &TurnClaim) -> Fenced<bool> {
        let Some(row) = self.claimed_row(claim) else { return Fenced::Stale };
        if row.permit_yield == PermitYield::None {
            return Fenced::Done(true);
        }
        row.permit_yield = PermitYield::Reacquiring;
        let quota_key = row.quota_key.clone();
        self.admit(&quota_key);
        Fenced::Done(self.turns[&claim.turn_id].permit_yield == PermitYield::None)
    }

    /// Gives the free permits of a quota key to the turns that reacquire theirs, then to the turns that have waited
    /// longest, and makes the latter due.
    pub(crate) fn admit(&mut self, quota_key: &str) -> Vec<TurnId> {
        let mut due = Vec::new();
        while self.permit_usage(quota_key).1 < self.caps.running {
            if let Some(back) = self.next_reacquiring(quota_key) {
                back.permit_yield = PermitYield::None;
                continue;
            }
            let Some(next) = self.next_waiting(quota_key) else { break };
            let now = self.now;
            if let Some(row) = self.turns.get_mut(&next) {
                row.admitted = true;
                row.due = Some(now);
            }
            due.push(next);
        }
        due
    }

    fn next_reacquiring(&mut self, quota_key: &str) -> Option<&mut TurnRow> {
        let waiting = self.turns.values_mut().filter(|row| {
            row.quota_key == quota_key
                && row.is_open()
                && row.admitted
                && row.permit_yield == PermitYield::Reacquiring
        });
        waiting.min_by_key(|row| row.accepted)
    }

    /// The next turn to admit: per session only the first open turn, and operations.
    fn next_waiting(&self, quota_key: &str) -> Option<TurnId> {
        let waiting = self.turns.values().filter(|row| {
            let queued = row.turn.status == TurnStatus::Queued && row.external_work_until.is_none();
            row.quota_key == quota_key && queued && !row.admitted
        });
        let first = waiting.filter(|row| self.is_next(row));
        first.min_by_key(|row| row.accepted).map(|row| row.turn.id.clone())
    }
}
