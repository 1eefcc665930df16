//! Operations: long-running tool calls, carried out by a turn of their own.

use std::time::Duration;

use async_trait::async_trait;
use protocol::message::{NewMessage, ToolCall};
use protocol::operation::{Operation, OperationResult};
use protocol::session::Owner;
use protocol::turn::{TurnClaim, TurnRequest};
use protocol::{OperationId, TaskId, TurnId};

use super::Fenced;
use crate::error::PortResult;

/// An operation is begun by a turn and carried out by another, which has a log of its own (`task_id`), is queued,
/// claimed, renewed and cancelled like every turn, and counts among the turns its user may run, but not among those in
/// flight. Until it lines up it has no place in the order of its session: it runs beside it, the session is not busy
/// because of it, and `Turns::current` does not give it. While its work goes on elsewhere (`accepted`) it has no place
/// at all and nobody can claim it, unless its time is over or it is cancelled.
///
/// Laws: the operation, its turn and the pending row are written together, once for every call
/// (`an_operation_is_begun_once_for_every_call`); its turn is due at once, beside the turn that began it
/// (`an_operation_runs_beside_its_session`); one that was accepted rests until it is completed
/// (`an_accepted_operation_rests_until_it_is_completed`) or its time is over
/// (`an_accepted_operation_is_due_when_its_time_is_over`); a completion replaces the pending row and counts once, early,
/// late, repeated or after a cancel (`an_operation_is_completed_once`); whoever lines up waits for the turns before it
/// (`an_operation_lines_up_behind_the_turns_before_it`); its end without a result gives it one
/// (`an_operation_that_ends_without_a_result_gets_one`); only its owner sees it
/// (`an_operation_is_seen_by_its_owner_only`); a session has at most `limits::OPERATIONS`
/// (`a_session_has_no_more_operations_than_it_may`). Resting survives a restart
/// (`an_accepted_operation_rests_through_a_restart`) but not a cancel (`a_cancel_wakes_an_accepted_operation`,
/// `a_cancelled_operation_does_not_rest`). While one is open, nothing is regenerated
/// (`a_session_with_an_open_operation_is_not_regenerated`). Whoever waits in line gives its place to others
/// (`an_operation_that_waits_in_line_gives_its_place_to_others`), and nobody waits for an operation
/// (`a_turn_does_not_wait_for_the_operations_of_its_session`).
#[async_trait]
pub trait Operations: Send + Sync {
    /// Under the claim of the turn that asked for the call.
    async fn begin(
        &self,
        claim: &TurnClaim,
        new: NewOperation,
    ) -> PortResult<Fenced<OperationBegun>>;

    async fn get(&self, owner: &Owner, which: &OperationKey) -> PortResult<Option<Operation>>;

    /// Under the claim of its own turn: the work goes on elsewhere, and the claim is given up. After `at_most` the turn
    /// is due again. One that has its result already is due at once.
    async fn accepted(&self, claim: &TurnClaim, at_most: Duration) -> PortResult<Fenced<()>>;

    /// The one way an operation gets its result, by whoever knows the id: result, row of the history and the turn's
    /// being due are one transaction.
    async fn complete(
        &self,
        which: &OperationKey,
        result: OperationResult,
    ) -> PortResult<OperationCompleted>;

    /// Under the claim of its own turn, once it has its result: joins the order of the session, at its end. `true` when
    /// it is its turn now; otherwise the claim is given up, and the end of the turn before it makes it due.
    async fn line_up(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationKey {
    Operation(OperationId),
    Task(TaskId),
}

#[derive(Clone, Debug)]
pub struct NewOperation {
    pub id: OperationId,
    /// The turn that will carry it out.
    pub turn_id: TurnId,
    pub call: ToolCall,
    /// What stands in the history as the call's result until it has one.
    pub pending: NewMessage,
    pub request: TurnRequest,
    pub push_grace: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OperationBegun {
    /// `due` when its turn may be pushed now.
    New { operation: Box<Operation>, due: bool },
    /// This call has one.
    Exists(Box<Operation>),
    /// The session has as many as it may have. Nothing was stored.
    TooMany,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationCompleted {
    /// Now; the turn may be pushed when `due`.
    Done {
        task_id: TaskId,
        due: bool,
    },
    /// It had its result before. Nothing was changed.
    Before {
        task_id: TaskId,
    },
    Unknown,
}
