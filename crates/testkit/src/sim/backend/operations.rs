//! Operations: the turn that runs one, the wait while an external service works, and the single result.

use std::time::Duration;

use ports::store::{NewOperation, OperationBegun, OperationCompleted, OperationKey};
use ports::{Fenced, PortError, PortResult};
use protocol::limits::OPERATIONS;
use protocol::operation::{Operation, OperationResult, OperationState};
use protocol::session::Owner;
use protocol::turn::{OperationRef, TurnClaim, TurnStatus};
use protocol::{OperationId, TurnId};

use super::insert_turn::{NewTurnRow, SubmissionKey};
use super::{BackendState, PermitYield};

impl BackendState {
    pub fn begin(
        &mut self,
        claim: &TurnClaim,
        new: &NewOperation,
    ) -> PortResult<Fenced<OperationBegun>> {
        let Some(row) = self.claimed_row(claim) else { return Ok(Fenced::Stale) };
        let cancel_requested = row.turn.cancel_requested;
        let mut of_session =
            self.operations.values().filter(|known| known.session_id == claim.session_id);
        let known = of_session
            .clone()
            .find(|known| known.asked_by == claim.turn_id && known.call.id == new.call.id);
        if let Some(known) = known {
            return Ok(Fenced::Done(OperationBegun::Exists(Box::new(known.clone()))));
        }
        let running = of_session.by_ref().filter(|known| known.result.is_none()).count();
        if running >= OPERATIONS as usize {
            return Ok(Fenced::Done(OperationBegun::TooMany));
        }
        self.refuse_second_rows(claim, std::iter::once(&new.pending))?;
        self.insert_message(&claim.turn_id, &new.pending);
        let named = OperationRef {
            id: new.id.clone(),
            call_id: new.call.id.clone(),
            tool_name: new.call.name.clone(),
        };
        let turn = self.insert_turn(NewTurnRow {
            session: claim.session_id.clone(),
            request: new.request.clone(),
            push_grace: new.push_grace,
            submission: SubmissionKey::default(),
            parent: Some(claim.turn_id.clone()),
            operation: Some((new.turn_id.clone(), named)),
            // A cancel that the asking turn has not seen yet applies to this turn, too.
            cancel_requested,
        });
        let operation = Operation {
            id: new.id.clone(),
            task_id: new.turn_id.task(),
            session_id: claim.session_id.clone(),
            asked_by: claim.turn_id.clone(),
            call: new.call.clone(),
            state: OperationState::Running,
            result: None,
            created_at: self.wall(),
        };
        self.operations.insert(new.id.clone(), operation.clone());
        let due = turn.is_some_and(|turn| self.turns[&turn].admitted);
        Ok(Fenced::Done(OperationBegun::New { operation: Box::new(operation), due }))
    }

    pub fn operation(&self, owner: &Owner, which: &OperationKey) -> Option<Operation> {
        let operation = &self.operations[&self.operation_id_of(which)?];
        self.session(owner, &operation.session_id)?;
        Some(operation.clone())
    }

    pub fn operation_with_owner(&self, which: &OperationKey) -> Option<(Owner, Operation)> {
        let operation = self.operations[&self.operation_id_of(which)?].clone();
        let session = &self.sessions.get(&operation.session_id)?.session;
        let owner = session.user_id.clone().map_or(Owner::Anonymous, Owner::User);
        Some((owner, operation))
    }

    pub fn accepted(&mut self, claim: &TurnClaim, at_most: Duration) -> PortResult<Fenced<()>> {
        if self.claimed_row(claim).is_none() {
            return Ok(Fenced::Stale);
        }
        let operation = self.carried_out_by(&claim.turn_id)?;
        if self.operations[&operation].result.is_some() {
            return Ok(self.hand_back(&claim.turn_id, claim.fence));
        }
        let external_work_until = self.now + at_most;
        self.release_claim_and_permit(claim);
        if let Some(operation) = self.operations.get_mut(&operation) {
            operation.state = OperationState::Accepted;
        }
        if let Some(row) = self.turns.get_mut(&claim.turn_id) {
            let cancelled = row.turn.cancel_requested;
            (row.due, row.external_work_until) =
                if cancelled { (Some(self.now), None) } else { (None, Some(external_work_until)) };
        }
        let quota_key = self.turns[&claim.turn_id].quota_key.clone();
        self.admit(&quota_key);
        Ok(Fenced::Done(()))
    }

    pub fn complete(
        &mut self,
        which: &OperationKey,
        result: &OperationResult,
    ) -> OperationCompleted {
        let Some(id) = self.operation_id_of(which) else { return OperationCompleted::Unknown };
        let task_id = self.operations[&id].task_id.clone();
        if self.operations[&id].result.is_some() {
            return OperationCompleted::Before { task_id };
        }
        self.store_result(&id, result);
        let turn = task_id.turn();
        self.resume_turn(&turn);
        let row = &self.turns[&turn];
        let due = row.turn.status == TurnStatus::Queued && row.admitted;
        OperationCompleted::Done { task_id, due }
    }

    pub fn line_up(&mut self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        if self.claimed_row(claim).is_none() {
            return Ok(Fenced::Stale);
        }
        let operation = self.carried_out_by(&claim.turn_id)?;
        if self.operations[&operation].result.is_none() {
            return Err(PortError::Broken(
                "an operation joins its session's order only with a result".into(),
            ));
        }
        if !self.turns[&claim.turn_id].has_ordinal() {
            self.assign_ordinal(claim);
        }
        if self.is_next(&self.turns[&claim.turn_id]) {
            return Ok(Fenced::Done(true));
        }
        self.release_claim_and_permit(claim);
        let quota_key = self.turns[&claim.turn_id].quota_key.clone();
        self.admit(&quota_key);
        Ok(Fenced::Done(false))
    }

    /// Ends the expired waits for external work; the turns are due as soon as they get a permit.
    pub(crate) fn end_external_waits(&mut self) {
        let over = self
            .turns
            .values()
            .filter(|row| row.external_work_until.is_some_and(|at| at <= self.now));
        let over: Vec<TurnId> = over.map(|row| row.turn.id.clone()).collect();
        over.iter().for_each(|turn| self.resume_turn(turn));
    }

    /// Stores the result in the operation and in the history.
    pub(crate) fn store_result(&mut self, id: &OperationId, result: &OperationResult) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        operation.state = OperationState::Ended;
        operation.result = Some(result.clone());
        let Some(session) = self.sessions.get_mut(&operation.session_id) else { return };
        let mut messages = session.messages.iter_mut().map(|row| &mut row.message);
        let pending = messages.find(|message| {
            message.turn_id == operation.asked_by
                && message.tool_call_id.as_ref() == Some(&operation.call.id)
        });
        if let Some(pending) = pending {
            pending.content = result.output.clone();
            pending.outcome = Some(result.outcome);
        }
    }

    fn resume_turn(&mut self, turn: &TurnId) {
        let Some(row) = self.turns.get_mut(turn) else { return };
        if row.external_work_until.take().is_some() {
            let quota_key = row.quota_key.clone();
            self.admit(&quota_key);
        }
    }

    fn operation_id_of(&self, which: &OperationKey) -> Option<OperationId> {
        let mut all = self.operations.values();
        let found = all.find(|operation| match which {
            OperationKey::Operation(id) => operation.id == *id,
            OperationKey::Task(task) => operation.task_id == *task,
        });
        found.map(|operation| operation.id.clone())
    }

    fn carried_out_by(&self, turn: &TurnId) -> PortResult<OperationId> {
        let operation = self.turns.get(turn).and_then(|row| row.turn.operation.as_ref());
        let operation = operation.map(|operation| operation.id.clone());
        operation.ok_or_else(|| PortError::Broken("the turn does not run an operation".into()))
    }

    fn assign_ordinal(&mut self, claim: &TurnClaim) {
        let Some(session) = self.sessions.get_mut(&claim.session_id) else { return };
        session.last_ordinal += 1;
        let ordinal = session.last_ordinal;
        if let Some(row) = self.turns.get_mut(&claim.turn_id) {
            row.ordinal = ordinal;
        }
    }

    /// Releases the claim and the permit of the turn.
    fn release_claim_and_permit(&mut self, claim: &TurnClaim) {
        self.hand_back(&claim.turn_id, claim.fence);
        if let Some(row) = self.turns.get_mut(&claim.turn_id) {
            (row.due, row.admitted, row.permit_yield) = (None, false, PermitYield::None);
        }
    }
}
