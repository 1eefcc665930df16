//! How a turn gets its row: at the end of its session, or beside it when it carries out an operation.

use std::time::Duration;

use ports::store::NewTurn;
use protocol::turn::{OperationRef, Turn, TurnRequest, TurnStatus};
use protocol::usage::Usage;
use protocol::{MessageId, SessionId, TurnId};

use super::log::Log;
use super::{Aside, State, TurnRow, turn_name};

/// How a submission is recognised when it comes again.
#[derive(Clone, Default)]
pub(super) struct Asked {
    pub(super) client_id: Option<String>,
    pub(super) fingerprint: Option<String>,
}

/// What a row is made of.
pub(super) struct NewRow {
    pub(super) session: SessionId,
    pub(super) request: TurnRequest,
    pub(super) push_grace: Duration,
    pub(super) asked: Asked,
    pub(super) parent: Option<TurnId>,
    /// The turn that carries out an operation has an id already, and stands beside its session.
    pub(super) operation: Option<(TurnId, OperationRef)>,
    pub(super) cancel_requested: bool,
}

impl NewRow {
    pub(super) fn in_line(new: &NewTurn, asked: Asked) -> Self {
        Self {
            session: new.session_id.clone(),
            request: new.request.clone(),
            push_grace: new.push_grace,
            asked,
            parent: new.parent.as_ref().map(|parent| parent.turn.clone()),
            operation: None,
            cancel_requested: false,
        }
    }
}

impl State {
    /// Adds a turn with an empty log, admitted when that is possible at once. `None` when its session is gone.
    pub(super) fn insert_turn(&mut self, new: NewRow) -> Option<TurnId> {
        let slot = self.slot_of(&new.session);
        let next = new.operation.is_some() || self.first_open(&new.session).is_none();
        let admitted = next && self.taken(&slot).1 < self.caps.running;
        let accepted = self.next();
        let (now, wall) = (self.now, self.wall());
        let session = self.sessions.get_mut(&new.session)?;
        let (id, ordinal, operation) = match new.operation {
            Some((id, operation)) => (id, -(accepted as i64), Some(operation)),
            None => {
                session.last_ordinal += 1;
                session.session.updated_at = wall;
                (TurnId(turn_name(accepted)), session.last_ordinal, None)
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
            client_id: new.asked.client_id,
            fingerprint: new.asked.fingerprint,
            slot,
            opened: now,
            admitted,
            aside: Aside::No,
            rests_until: None,
            due: admitted.then(|| now + new.push_grace),
            lease_until: None,
            worker: None,
            started: None,
            ended: None,
            cancelled: turn.cancel_requested.then_some(now),
            steps_done: 0,
            calls: Vec::new(),
            followed_up: false,
            last_record: None,
            regenerates: None,
            superseded: false,
            turn,
        };
        self.turns.insert(id.clone(), row);
        self.logs.entry(id.task()).or_insert_with(Log::unwritten);
        Some(id)
    }
}
