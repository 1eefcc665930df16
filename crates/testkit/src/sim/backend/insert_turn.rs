//! Inserts the row of a new turn: at the end of its session, or outside the session's order for an operation.

use std::time::Duration;

use ports::store::NewTurn;
use protocol::turn::{OperationRef, Turn, TurnRequest, TurnStatus};
use protocol::usage::Usage;
use protocol::{MessageId, SessionId, TurnId};

use super::log::TaskLog;
use super::{BackendState, PermitYield, TurnRow, turn_label};

/// Recognizes a submission that is sent again.
#[derive(Clone, Default)]
pub(crate) struct SubmissionKey {
    pub(crate) client_id: Option<String>,
    pub(crate) fingerprint: Option<String>,
}

/// The values of a new row.
pub(crate) struct NewTurnRow {
    pub(crate) session: SessionId,
    pub(crate) request: TurnRequest,
    pub(crate) push_grace: Duration,
    pub(crate) submission: SubmissionKey,
    pub(crate) parent: Option<TurnId>,
    /// Set for the turn of an operation: it has an id already, and no position in its session yet.
    pub(crate) operation: Option<(TurnId, OperationRef)>,
    pub(crate) cancel_requested: bool,
}

impl NewTurnRow {
    pub(crate) fn in_session_order(new: &NewTurn, submission: SubmissionKey) -> Self {
        Self {
            session: new.session_id.clone(),
            request: new.request.clone(),
            push_grace: new.push_grace,
            submission,
            parent: new.parent.as_ref().map(|parent| parent.turn.clone()),
            operation: None,
            cancel_requested: false,
        }
    }
}

impl BackendState {
    /// Adds a turn with an empty log; admits it if a permit is free. `None` when its session was deleted.
    pub(crate) fn insert_turn(&mut self, new: NewTurnRow) -> Option<TurnId> {
        let quota_key = self.quota_key_of(&new.session);
        let next = new.operation.is_some() || self.first_open(&new.session).is_none();
        let admitted = next && self.permit_usage(&quota_key).1 < self.caps.running;
        let accepted = self.next_number();
        let (now, wall) = (self.now, self.wall());
        let session = self.sessions.get_mut(&new.session)?;
        let (id, ordinal, operation) = match new.operation {
            Some((id, operation)) => (id, -(accepted as i64), Some(operation)),
            None => {
                session.last_ordinal += 1;
                session.session.updated_at = wall;
                (TurnId(turn_label(accepted)), session.last_ordinal, None)
            }
        };
        let turn = Turn {
            id: id.clone(),
            session_id: new.session,
            user_id: None,
            status: TurnStatus::Queued,
            message_id: MessageId(id.0.clone()),
            request: new.request,
            fence: 0,
            attempt: 0,
            admitted,
            aside: false,
            parent: new.parent,
            operation,
            cancel_requested: new.cancel_requested,
            error: None,
            usage: Usage::default(),
            created_at: wall,
            started_at: None,
            ended_at: None,
        };
        let row = TurnRow {
            ordinal,
            accepted,
            client_id: new.submission.client_id,
            fingerprint: new.submission.fingerprint,
            quota_key,
            opened: now,
            admitted,
            permit_yield: PermitYield::None,
            external_work_until: None,
            due: admitted.then(|| now + new.push_grace),
            lease_until: None,
            worker: None,
            started: None,
            ended: None,
            cancelled: turn.cancel_requested.then_some(now),
            steps_done: 0,
            calls: Vec::new(),
            had_follow_ups: false,
            last_record: None,
            regenerates: None,
            superseded: false,
            turn,
        };
        self.turns.insert(id.clone(), row);
        self.logs.entry(id.task()).or_insert_with(TaskLog::unwritten);
        Some(id)
    }
}
