//! The one way a turn ends, and what ends with it.

use ports::store::{TurnEnding, TurnFinished};
use ports::stream_log::SegmentAppended;
use ports::{Fenced, PortError, PortResult};
use protocol::TurnId;
use protocol::message::{MessageRole, ToolOutcome};
use protocol::operation::OperationResult;
use protocol::turn::{TurnClaim, TurnStatus};

use super::State;
use super::log::End;

/// What stands for the result of an operation when its turn says nothing of it.
const ENDED_WITH_ITS_TURN: &str =
    r#"{"type":"error","error":"cancelled","message":"It ended before it had a result."}"#;

impl State {
    pub fn finish(
        &mut self,
        claim: &TurnClaim,
        ending: &TurnEnding,
    ) -> PortResult<Fenced<TurnFinished>> {
        if !ending.status.is_final() {
            return Err(PortError::Broken(format!("{:?} is no end of a turn", ending.status)));
        }
        if self.held(claim).is_none() {
            return Ok(Fenced::Stale);
        }
        let waits = self.waiting_for(&claim.turn_id).next().is_some();
        if ending.status == TurnStatus::Completed && waits {
            return Ok(Fenced::Done(TurnFinished::FollowUpsWait));
        }
        self.refuse_second_rows(claim, ending.messages.iter())?;
        let task = claim.turn_id.task();
        // The beginning of it may be stored by an append whose answer was not heard.
        let stored = self.logs.get(&task).map_or(0, |log| log.last);
        let last = ending.last.after(stored).unwrap_or_else(|| ending.last.clone());
        match self.append(&task, claim.fence, &last, End::Sealed)? {
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
        self.end_all_parked(&claim.turn_id);
        self.end_operation(&claim.turn_id, ending);
        self.end_row(claim, ending);
        Ok(Fenced::Done(TurnFinished::Ended(self.admit_next(claim))))
    }

    /// An operation that its turn leaves without a result gets one.
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
        self.give_result(&id, &result);
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
        let mut said = session.messages.iter_mut().rev().map(|row| &mut row.message);
        let last =
            said.find(|said| said.turn_id == claim.turn_id && said.role == MessageRole::Assistant);
        if let Some(last) = last {
            last.duration_ms = took;
        }
    }

    /// The place of the turn that has ended goes to the next one of its slot. Its session may have been given to a user
    /// since: then the turns after it count for that user.
    fn admit_next(&mut self, claim: &TurnClaim) -> Vec<TurnId> {
        let mine = self.turns[&claim.turn_id].slot.clone();
        let mut due = self.admit(&mine);
        let next = self.slot_of(&claim.session_id);
        if next != mine {
            due.extend(self.admit(&next));
        }
        due
    }
}
