//! Ends a turn together with its follow-ups, background calls and operation.

use ports::store::{TurnEnding, TurnFinished};
use ports::stream_log::SegmentAppended;
use ports::{Fenced, PortError, PortResult};
use protocol::TurnId;
use protocol::message::{MessageRole, ToolOutcome};
use protocol::operation::OperationResult;
use protocol::turn::{TurnClaim, TurnStatus};

use super::BackendState;
use super::log::AppendMode;

/// The result of an operation whose turn ended without one.
const ENDED_WITH_ITS_TURN: &str =
    r#"{"type":"error","error":"cancelled","message":"It ended before it had a result."}"#;

impl BackendState {
    pub fn finish(
        &mut self,
        claim: &TurnClaim,
        ending: &TurnEnding,
    ) -> PortResult<Fenced<TurnFinished>> {
        if !ending.status.is_final() {
            return Err(PortError::Broken(format!("{:?} is not a final status", ending.status)));
        }
        if self.claimed_row(claim).is_none() {
            return Ok(Fenced::Stale);
        }
        let waits = self.waiting_for(&claim.turn_id).next().is_some();
        if ending.status == TurnStatus::Completed && waits {
            return Ok(Fenced::Done(TurnFinished::FollowUpsWait));
        }
        self.refuse_second_rows(claim, ending.messages.iter())?;
        let task = claim.turn_id.task();
        // Its beginning may already be stored by an append whose reply was lost.
        let stored = self.logs.get(&task).map_or(0, |log| log.last);
        let last = ending.last.after(stored).unwrap_or_else(|| ending.last.clone());
        match self.append(&task, claim.fence, &last, AppendMode::Seal)? {
            SegmentAppended::Stored => {}
            refused => {
                return Err(PortError::Broken(format!(
                    "the last chunks were refused: {refused:?}"
                )));
            }
        }
        for message in &ending.messages {
            self.insert_message(&claim.turn_id, message);
        }
        self.add_usage(claim, ending.usage);
        self.settle_follow_ups(&claim.turn_id, ending.status);
        self.end_all_background_calls(&claim.turn_id);
        self.end_operation(&claim.turn_id, ending);
        self.end_row(claim, ending);
        Ok(Fenced::Done(TurnFinished::Ended(self.admit_next(claim))))
    }

    /// Gives the operation of the turn a result if it has none.
    fn end_operation(&mut self, turn: &TurnId, ending: &TurnEnding) {
        let Some(row) = self.turns.get(turn) else { return };
        let operation = row.turn.operation.as_ref().and_then(|op| self.operations.get(&op.id));
        let Some(operation) = operation.filter(|operation| operation.result.is_none()) else {
            return;
        };
        let id = operation.id.clone();
        let result = ending.operation.clone().unwrap_or_else(|| OperationResult {
            output: ENDED_WITH_ITS_TURN.to_owned(),
            outcome: ToolOutcome::Cancelled,
        });
        self.store_result(&id, &result);
    }

    fn end_row(&mut self, claim: &TurnClaim, ending: &TurnEnding) {
        let (now, wall) = (self.now, self.wall());
        let Some(row) = self.turns.get_mut(&claim.turn_id) else { return };
        row.turn.status = ending.status;
        row.turn.error = ending.error.clone();
        row.turn.ended_at = Some(wall);
        row.ended = Some(now);
        (row.due, row.lease_until, row.worker) = (None, None, None);
        let took = row.started.map(|started| (now - started).as_millis() as u64);
        let Some(session) = self.sessions.get_mut(&claim.session_id) else { return };
        session.session.updated_at = wall;
        if session.session.title.is_none() {
            session.session.title = ending.title.clone();
        }
        let mut messages = session.messages.iter_mut().rev().map(|row| &mut row.message);
        let last = messages.find(|message| {
            message.turn_id == claim.turn_id && message.role == MessageRole::Assistant
        });
        if let Some(last) = last {
            last.duration_ms = took;
        }
    }

    /// Gives the permit of the ended turn to the next turn of its quota key. If the session was assigned to a user
    /// since, its later turns count against that user, so that key is served, too.
    fn admit_next(&mut self, claim: &TurnClaim) -> Vec<TurnId> {
        let mine = self.turns[&claim.turn_id].quota_key.clone();
        let mut due = self.admit(&mine);
        let next = self.quota_key_of(&claim.session_id);
        if next != mine {
            due.extend(self.admit(&next));
        }
        due
    }
}
