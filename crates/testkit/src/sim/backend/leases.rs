//! Claims and leases of turns.

use std::time::Duration;

use ports::Fenced;
use ports::leases::{GrantedTurn, JobClaimed, LeaseRenewal};
use ports::stream_log::TakenOver;
use protocol::turn::TurnStatus;
use protocol::{TurnId, WorkerId};

use super::BackendState;

impl BackendState {
    pub fn claim(&mut self, id: &TurnId, worker: &WorkerId, ttl: Duration) -> JobClaimed {
        self.end_external_waits();
        let (now, wall) = (self.now, self.wall());
        let Some(row) = self.turns.get(id) else { return JobClaimed::Ended };
        match row.turn.status {
            TurnStatus::Running if row.lease_until.is_some_and(|until| until > now) => {
                if row.worker.as_ref() != Some(worker) {
                    return JobClaimed::Held;
                }
                return self.claimed_turn(id, worker);
            }
            TurnStatus::Queued | TurnStatus::Running => {}
            TurnStatus::Completed | TurnStatus::Failed | TurnStatus::Cancelled => {
                return JobClaimed::Ended;
            }
        }
        let only_to_end = row.turn.cancel_requested && self.is_next(row);
        if !row.admitted && !only_to_end {
            return JobClaimed::NotReady;
        }
        let Some(row) = self.turns.get_mut(id) else { return JobClaimed::Ended };
        row.turn.status = TurnStatus::Running;
        row.turn.fence += 1;
        row.turn.attempt += 1;
        row.turn.started_at.get_or_insert(wall);
        row.started.get_or_insert(now);
        row.worker = Some(worker.clone());
        row.lease_until = Some(now + ttl);
        (row.due, row.external_work_until) = (None, None);
        self.claimed_turn(id, worker)
    }

    pub fn renew(&mut self, turn: &TurnId, fence: u64, ttl: Duration) -> LeaseRenewal {
        let until = self.now + ttl;
        let Some(row) = self.held_row(turn, fence) else { return LeaseRenewal::Lost };
        row.lease_until = Some(until);
        LeaseRenewal::Held { stop_requested: row.turn.cancel_requested }
    }

    pub fn hand_back(&mut self, turn: &TurnId, fence: u64) -> Fenced<()> {
        let now = self.now;
        let Some(row) = self.held_row(turn, fence) else { return Fenced::Stale };
        row.turn.status = TurnStatus::Queued;
        row.turn.attempt = row.turn.attempt.saturating_sub(1);
        (row.due, row.lease_until, row.worker) = (Some(now), None, None);
        Fenced::Done(())
    }

    /// The claim in the row. Takes over the log as well, so that the previous holder can no longer append.
    fn claimed_turn(&mut self, id: &TurnId, worker: &WorkerId) -> JobClaimed {
        let turn = self.visible_turn(&self.turns[id]);
        let log_at = match self.take_over(&id.task(), turn.fence) {
            TakenOver::At { last, sealed: false } => Some(last),
            TakenOver::At { sealed: true, .. } | TakenOver::Stale => None,
        };
        JobClaimed::Turn(Box::new(GrantedTurn::new(turn, worker.clone(), log_at)))
    }
}
