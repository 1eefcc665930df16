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

/// An operation is started by a turn and carried out by another one, which has its own log (`task_id`), is queued, claimed,
/// renewed and canceled like every turn, and counts toward the running turns of its user, but not toward those in flight.
/// Until it lines up it is not part of the order of its session: it runs beside it, the session is not busy because of it,
/// and `Turns::current` does not return it. While another service carries it out (`accepted`) it has no concurrency permit
/// and cannot be claimed, unless its time limit is over or it is canceled.
///
/// Laws: the operation, its turn and the pending message are written together, once per call
/// (`an_operation_is_started_once_per_call`); its turn is due at once, beside the turn that started it
/// (`an_operation_runs_concurrently_with_its_session`); an accepted one waits until it is completed
/// (`an_accepted_operation_waits_until_it_is_completed`) or its time limit is over
/// (`an_accepted_operation_is_due_when_its_time_limit_expires`); a completion replaces the pending message and counts
/// once: early, late, repeated or after a cancel (`an_operation_is_completed_once`); after lining up it waits for the
/// turns before it (`an_operation_joins_its_session_after_earlier_turns`); ending without a result gives it one
/// (`an_operation_that_ends_without_a_result_gets_one`); it is visible to its owner only, and
/// found with its owner by those that know its id (`an_operation_is_seen_by_its_owner_only`); a session has at most `limits::OPERATIONS`
/// (`open_operations_are_limited_per_session`). Waiting survives a restart
/// (`an_accepted_operation_waits_through_a_restart`) but not a cancel (`a_cancel_wakes_an_accepted_operation`,
/// `a_cancelled_operation_does_not_wait`). While one is open, nothing can be regenerated
/// (`a_session_with_an_open_operation_is_not_regenerated`). While it waits in line it releases its concurrency permit
/// (`an_operation_that_waits_for_its_session_releases_its_permit`), and turns do not wait for operations
/// (`a_turn_does_not_wait_for_the_operations_of_its_session`).
#[async_trait]
pub trait Operations: Send + Sync {
    /// Under the claim of the turn that requested the call.
    async fn begin(
        &self,
        claim: &TurnClaim,
        new: NewOperation,
    ) -> PortResult<Fenced<OperationBegun>>;

    async fn get(&self, owner: &Owner, which: &OperationKey) -> PortResult<Option<Operation>>;

    /// The operation and its owner, for callers that know the id, such as `complete`.
    async fn find(&self, which: &OperationKey) -> PortResult<Option<(Owner, Operation)>>;

    /// Under the claim of its own turn: another service carries it out, and the claim is released. After `at_most` the turn is
    /// due again. An operation that already has its result is due at once.
    async fn accepted(&self, claim: &TurnClaim, at_most: Duration) -> PortResult<Fenced<()>>;

    /// The only way an operation gets its result, for callers that know the id: result, history message and the turn becoming
    /// due are one transaction.
    async fn complete(
        &self,
        which: &OperationKey,
        result: OperationResult,
    ) -> PortResult<OperationCompleted>;

    /// Under the claim of its own turn, once it has its result: joins the end of the session's order. `true` when it can run
    /// now; otherwise the claim is released, and the end of the turn before it makes it due.
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
    /// The call's placeholder in the history until it has a result.
    pub pending: NewMessage,
    pub request: TurnRequest,
    pub push_grace: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OperationBegun {
    /// `due` when its turn may be pushed now.
    New { operation: Box<Operation>, due: bool },
    /// This call already has one.
    Exists(Box<Operation>),
    /// The session has too many open operations. Nothing was stored.
    TooMany,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationCompleted {
    /// Completed now; the turn may be pushed when `due`.
    Done {
        task_id: TaskId,
        due: bool,
    },
    /// It already had its result. Nothing was changed.
    Before {
        task_id: TaskId,
    },
    Unknown,
}
