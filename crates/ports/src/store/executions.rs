//! Executions: created, claimed, journaled, ended.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use protocol::credit::CreditCharge;
use protocol::execution::{
    Execution, ExecutionClaim, ExecutionError, ExecutionRequest, ExecutionStats, ExecutionStatus,
};
use protocol::review::Review;
use protocol::{ExecutionId, GraphId, UserId};

use super::Fenced;
use crate::error::PortResult;

/// An execution is leased and relayed like a turn (`Leases`, `Outbox`). The events of its nodes are an ordered journal,
/// appended in batches.
///
/// Laws: one id creates one execution (`an_execution_is_created_once`), due at once (`a_new_execution_is_due`); a stale
/// claim changes nothing (`a_stale_claim_of_an_execution_changes_nothing`). The journal is dense
/// (`the_journal_is_dense`), and a repeated batch is written once (`a_repeated_batch_is_written_once`), with its charges
/// and reviews (`a_batch_is_written_with_its_charges_and_reviews`). An execution ends once (`an_execution_ends_once`). It
/// stays in REVIEW only while a review is pending (`an_execution_waits_only_while_a_review_is_pending`). A stop reaches
/// all children (`a_stop_reaches_all_children`), ends unclaimed ones at once (`a_stop_ends_executions_without_a_lease`)
/// and withdraws the reviews (`a_stop_withdraws_pending_reviews`). An execution is visible to its user only
/// (`an_execution_is_seen_by_its_user_only`). An ended execution can be deleted with all its data
/// (`an_ended_execution_can_be_deleted`). A parent that has ended or is being stopped starts nothing
/// (`an_ended_parent_starts_no_execution`). Lists support filters and pages (`executions_are_listed_newest_first`).
#[async_trait]
pub trait Executions: Send + Sync {
    /// One transaction: the row in QUEUED, its outbox entry, and `last_run_at` of the user's library entry for the graph. On
    /// stable storage when it returns.
    async fn create(&self, new: NewExecution) -> PortResult<ExecutionCreated>;

    async fn get(&self, user: &UserId, id: &ExecutionId) -> PortResult<Option<Execution>>;

    /// Newest first, with the total number.
    async fn list(
        &self,
        user: &UserId,
        request: &ListExecutions,
    ) -> PortResult<(Vec<Execution>, u64)>;

    async fn delete(&self, user: &UserId, id: &ExecutionId) -> PortResult<ExecutionDeleted>;

    /// All or nothing. Repeating the last advance changes nothing and returns the same result.
    async fn advance(
        &self,
        claim: &ExecutionClaim,
        advance: ExecutionAdvance,
    ) -> PortResult<Fenced<ExecutionAdvanced>>;

    /// Whole batches after the event number `after`, oldest first, together about `bytes` at most but at least one if there is
    /// one.
    async fn journal(
        &self,
        user: &UserId,
        id: &ExecutionId,
        after: u64,
        bytes: usize,
    ) -> PortResult<Vec<JournalBatch>>;

    /// Marks the execution and every execution below it without a final status. Unclaimed ones (QUEUED, INCOMPLETE, REVIEW)
    /// become TERMINATED at once, with `ended_at`; their pending reviews are deleted. Returns the resulting rows, the execution
    /// itself first; `None`: there is no such execution.
    async fn request_stop(
        &self,
        user: &UserId,
        id: &ExecutionId,
    ) -> PortResult<Option<Vec<Execution>>>;

    /// The numbers of queued and running executions, for metrics.
    async fn count_open(&self) -> PortResult<(u64, u64)>;
}

#[derive(Clone, Debug)]
pub struct NewExecution {
    pub id: ExecutionId,
    pub user_id: UserId,
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub request: ExecutionRequest,
    pub parent: Option<ExecutionId>,
    /// The caller pushes the execution to the queue itself, so the outbox does not do it before this has passed.
    pub push_grace: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExecutionCreated {
    New(Box<Execution>),
    Exists(Box<Execution>),
    /// The parent has ended or is being stopped. Nothing was stored.
    ParentEnded,
    /// It would be deeper than `limits::EXECUTION_DEPTH`. Nothing was stored.
    TooDeep,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListExecutions {
    pub graph: Option<GraphId>,
    /// Empty: all.
    pub statuses: Vec<ExecutionStatus>,
    /// Created at or after `from`, and before `until`.
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Only those not started by another execution.
    pub top_level: bool,
    pub limit: u32,
    pub offset: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionDeleted {
    Deleted,
    Missing,
    /// It has not ended.
    Open,
}

/// A batch of journal events with everything that is stored in the same transaction.
#[derive(Clone, Debug)]
pub struct ExecutionAdvance {
    /// The number of events journaled before. Any other position is `Broken`, unless it repeats the last advance.
    pub after: u64,
    /// A JSON array of `NodeEvent`s; empty when there are none.
    pub events: Bytes,
    pub count: u64,
    pub charges: Vec<CreditCharge>,
    /// In WAITING. Existing ids are unchanged.
    pub reviews: Vec<Review>,
    pub stats: ExecutionStats,
    pub then: AfterAdvance,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AfterAdvance {
    Continue,
    /// Only reviews are left to wait for: the execution becomes REVIEW and the claim is released, unless all its reviews are
    /// decided (`ExecutionAdvanced::Decided`).
    AwaitReviews,
    /// The only way an execution ends, with a final status.
    End {
        status: ExecutionStatus,
        error: Option<ExecutionError>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionAdvanced {
    Done,
    /// Response to `AwaitReviews`: none is pending; the batch was written and the claim is kept.
    Decided,
}

#[derive(Clone, Debug, PartialEq)]
pub struct JournalBatch {
    /// The number of its first event, from 0.
    pub first: u64,
    pub count: u64,
    pub events: Bytes,
}
