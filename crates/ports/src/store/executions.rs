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
use protocol::{ExecutionId, GraphId, UserId, WorkerId};

use super::Fenced;
use crate::error::PortResult;
use crate::leases::LeaseRenewal;

/// A run travels like a turn: created with its outbox entry, claimed under a fence, renewed, handed back, taken over.
/// What its nodes do is an ordered journal, appended in batches. Leases are judged by one clock that never jumps.
///
/// Laws: one id makes one run (`an_execution_is_created_once`), due at once (`a_new_execution_is_due`); a run has one
/// holder (`an_execution_has_one_holder`), every claim raises the fence (`every_claim_of_an_execution_raises_the_fence`),
/// the same worker gets the claim it has (`a_repeated_claim_of_an_execution_is_the_same`), a stale claim changes nothing
/// (`a_stale_claim_of_an_execution_changes_nothing`), and a run whose holder has gone is due again
/// (`a_lapsed_execution_is_due_again`). A hand-back is not a crash (`a_handed_back_execution_does_not_count_as_crashed`).
/// A user runs no more at once than the cap, children of runs aside (`no_more_executions_run_than_the_cap`). The journal
/// is dense (`the_journal_is_dense`) and a batch that is repeated is written once
/// (`a_batch_that_is_repeated_is_written_once`), with its charges and reviews (`a_batch_is_written_with_its_charges_and_reviews`).
/// A run ends once (`an_execution_ends_once`). It rests in REVIEW only while somebody has to decide
/// (`an_execution_rests_only_while_a_review_waits`). A stop reaches all children of a run
/// (`a_stop_reaches_all_children`), ends at once what nobody holds (`a_stop_ends_what_nobody_holds`) and withdraws its
/// reviews (`a_stop_withdraws_the_reviews`). Only its user sees a run (`an_execution_is_seen_by_its_user_only`). A run
/// that has ended can be deleted, with all that belongs to it (`an_ended_execution_can_be_deleted`). A parent that has
/// ended or is being stopped starts nothing (`a_parent_that_has_ended_starts_no_execution`). Lists filter and page
/// (`executions_are_listed_newest_first`).
#[async_trait]
pub trait Executions: Send + Sync {
    /// One transaction: the row, in QUEUED, its outbox entry, and `last_run_at` of the user's library entry for the
    /// graph. On stable storage when it returns.
    async fn create(&self, new: NewExecution) -> PortResult<ExecutionCreated>;

    async fn get(&self, user: &UserId, id: &ExecutionId) -> PortResult<Option<Execution>>;

    /// The newest first; and how many there are in all.
    async fn list(
        &self,
        user: &UserId,
        wanted: &ListExecutions,
    ) -> PortResult<(Vec<Execution>, u64)>;

    async fn delete(&self, user: &UserId, id: &ExecutionId) -> PortResult<ExecutionDeleted>;

    /// One conditional update: the run becomes RUNNING, its fence and its attempt go up by one, `started_at` is set
    /// the first time, and its outbox entry is removed. One whose stop was requested can be claimed beyond the cap.
    async fn claim(
        &self,
        id: &ExecutionId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<ExecutionClaimed>;

    async fn renew(&self, claim: &ExecutionClaim, ttl: Duration) -> PortResult<LeaseRenewal>;

    /// Back to QUEUED, due at once, and not counted as a crash.
    async fn hand_back(&self, claim: &ExecutionClaim) -> PortResult<Fenced<()>>;

    /// All or nothing. The last one given again changes nothing and gets the answer it had.
    async fn advance(
        &self,
        claim: &ExecutionClaim,
        advance: ExecutionAdvance,
    ) -> PortResult<Fenced<ExecutionAdvanced>>;

    /// Batches after the event number `after`, oldest first, whole, together at most about `bytes` but at least one if
    /// there is one.
    async fn journal(
        &self,
        user: &UserId,
        id: &ExecutionId,
        after: u64,
        bytes: usize,
    ) -> PortResult<Vec<JournalBatch>>;

    /// Marks the run and every run below it that has no final status. Those that nobody holds (QUEUED, INCOMPLETE,
    /// REVIEW) become TERMINATED here and now, with `ended_at`; their waiting reviews are withdrawn (deleted). Gives all
    /// of them as they are afterwards, the run itself first; `None`: there is no such run.
    async fn request_stop(
        &self,
        user: &UserId,
        id: &ExecutionId,
    ) -> PortResult<Option<Vec<Execution>>>;

    /// Runs that somebody should claim, the oldest first. Nobody else is given them before `hold` has passed.
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<ExecutionId>>;

    /// They were pushed; they become due again when nobody has claimed them after `again_in`.
    async fn pushed(&self, ids: &[ExecutionId], again_in: Duration) -> PortResult<()>;

    /// How many are queued and how many run, for the metrics.
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
    /// The caller pushes the run to the queue itself, so the outbox need not before this has passed.
    pub push_grace: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExecutionCreated {
    New(Box<Execution>),
    Exists(Box<Execution>),
    /// The parent has ended, or is being stopped. Nothing was stored.
    ParentEnded,
    /// It would be deeper than `limits::EXECUTION_DEPTH`. Nothing was stored.
    TooDeep,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListExecutions {
    pub graph: Option<GraphId>,
    /// Empty: all.
    pub statuses: Vec<ExecutionStatus>,
    /// Created at or after this, and before that.
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Only those that no other run has started.
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

#[derive(Clone, Debug, PartialEq)]
pub enum ExecutionClaimed {
    Won {
        claim: ExecutionClaim,
        execution: Box<Execution>,
    },
    /// Somebody holds it and has renewed in time.
    Held,
    /// Its user runs as many as a user may run: to the back of the queue.
    AtCap,
    /// A person has to decide first.
    Rests,
    /// It has a final status, or is gone.
    Ended,
}

/// What happens together.
#[derive(Clone, Debug)]
pub struct ExecutionAdvance {
    /// How many events were journaled before. An advance at another place is `Broken`, unless it is the last one again.
    pub after: u64,
    /// A JSON array of `NodeEvent`s; empty when there are none.
    pub events: Bytes,
    pub count: u64,
    pub charges: Vec<CreditCharge>,
    /// In WAITING. One whose id is there already is left as it is.
    pub reviews: Vec<Review>,
    pub stats: ExecutionStats,
    pub then: AfterAdvance,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AfterAdvance {
    GoesOn,
    /// Nothing is left to do but to wait for decisions: the run becomes REVIEW and the claim is given up, unless all
    /// of its reviews are decided (`ExecutionAdvanced::Decided`).
    Rest,
    /// The one way a run ends, with a final status.
    End {
        status: ExecutionStatus,
        error: Option<ExecutionError>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionAdvanced {
    Done,
    /// To `Rest`: no review waits any more; the batch was written and the claim is kept.
    Decided,
}

#[derive(Clone, Debug, PartialEq)]
pub struct JournalBatch {
    /// The number of its first event, from 0.
    pub first: u64,
    pub count: u64,
    pub events: Bytes,
}
