//! Outbox: the turns that have to be pushed to the queue.

use std::time::Duration;

use protocol::TurnId;
use protocol::turn::TurnStatus;

use super::{BackendState, SimTime, TurnRow};

impl BackendState {
    pub fn due(&mut self, limit: u32, hold: Duration) -> Vec<TurnId> {
        self.end_external_waits();
        let now = self.now;
        let mut since: Vec<(SimTime, u64, TurnId)> = self
            .turns
            .values()
            .filter_map(|row| Some((row.due_since(now)?, row.accepted, row.turn.id.clone())))
            .collect();
        since.sort();
        since.truncate(limit as usize);
        let due: Vec<TurnId> = since.into_iter().map(|(.., id)| id).collect();
        if !hold.is_zero() {
            self.pushed(&due, hold);
        }
        due
    }

    pub fn pushed(&mut self, turns: &[TurnId], again_in: Duration) {
        let now = self.now;
        for id in turns {
            let Some(row) = self.turns.get_mut(id) else { continue };
            // A turn that was claimed or ended in between is no longer in the outbox.
            let out = match row.turn.status {
                TurnStatus::Queued => row.due.is_some(),
                TurnStatus::Running => row.lease_until.is_some_and(|until| until <= now),
                _ => false,
            };
            if out {
                row.due = Some(now + again_in);
            }
        }
    }

    pub fn lag(&self) -> (u64, Duration) {
        let since: Vec<SimTime> =
            self.turns.values().filter_map(|row| row.due_since(self.now)).collect();
        let oldest = since.iter().min().map_or(Duration::ZERO, |since| self.now - *since);
        (since.len() as u64, oldest)
    }
}

impl TurnRow {
    /// Since when the turn is due: it waits for a worker, or its lease expired.
    fn due_since(&self, now: SimTime) -> Option<SimTime> {
        let since = match self.turn.status {
            TurnStatus::Queued => self.due?,
            TurnStatus::Running => self.lease_until?.max(self.due.unwrap_or_default()),
            _ => return None,
        };
        (since <= now).then_some(since)
    }
}
