//! Stopping a turn: a fact in its row, a hint on the bus, and a wait for the end.

use ports::PortResult;
use protocol::session::Owner;
use protocol::{SessionId, TurnId};

use crate::Engine;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelReport {
    pub cancelled: bool,
    pub turn_id: Option<TurnId>,
    pub reason: Option<CancelReason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelReason {
    NoActiveTask,
    /// It had not started.
    Dequeued,
    /// Asked for, but the turn had not ended when the answer was due.
    NotConfirmed,
}

impl Engine {
    /// Returns when the turns have ended, or after `limits::CANCEL_CONFIRM`.
    pub async fn cancel(&self, owner: &Owner, session: &SessionId) -> PortResult<CancelReport> {
        todo_cancel(self, owner, session).await
    }
}
