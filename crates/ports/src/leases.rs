//! Claims of jobs, with their time limits.

use std::time::Duration;

use async_trait::async_trait;
use protocol::execution::{Execution, ExecutionClaim};
use protocol::turn::{Turn, TurnClaim};
use protocol::{Job, JobClaim, Seq, WorkerId};

use crate::error::PortResult;
use crate::store::Fenced;

/// Laws, for turns and executions alike: one holder at a time (`a_job_has_one_holder`); fences only grow
/// (`every_claim_raises_the_fence`); a claim repeated by the same worker is the same claim
/// (`a_claim_repeated_by_its_worker_is_the_same_claim`); a renewed lease stays valid (`a_renewed_lease_stays_valid`), a
/// late renewal fails (`a_renewal_after_a_new_claim_fails`), and a renewal reports a requested stop
/// (`a_renewal_reports_a_stop`); an orderly hand-back is not a crashed attempt
/// (`a_handed_back_job_does_not_count_as_crashed`); a job of a dead process can be claimed at once
/// (`a_job_of_a_dead_process_can_be_claimed_at_once`), an ended one never again (`an_ended_job_cannot_be_claimed`). A
/// session runs one turn at a time, in the order of acceptance (`a_session_runs_one_turn_at_a_time`). A user runs at most
/// as many executions at once as the limit, not counting children (`running_executions_are_limited_per_user`). Leases are
/// judged by one monotonic clock: the database's, or the process's.
#[async_trait]
pub trait Leases: Send + Sync {
    /// One conditional update: the job becomes running, and its fence and attempt are incremented. A worker that already
    /// holds the job gets its existing claim, so it can repeat a call whose response was lost. A job with a requested stop
    /// needs no concurrency permit: it is only claimed to be ended.
    async fn claim(&self, job: &Job, worker: &WorkerId, ttl: Duration) -> PortResult<JobClaimed>;

    async fn renew(&self, claim: &JobClaim, ttl: Duration) -> PortResult<LeaseRenewal>;

    /// Sets the job back to queued, due at once, without counting a crash.
    async fn hand_back(&self, claim: &JobClaim) -> PortResult<Fenced<()>>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum JobClaimed {
    Turn(Box<GrantedTurn>),
    Execution(Box<GrantedExecution>),
    /// Another worker holds it and has renewed in time.
    Held,
    /// Something else must happen first, and makes it due: an older turn of the session ends, a concurrency permit becomes
    /// free, a review is decided.
    NotReady,
    /// The user has reached the limit of running executions: to the back of the queue.
    AtLimit,
    /// It has a final status, or was deleted.
    Ended,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GrantedTurn {
    pub claim: TurnClaim,
    pub turn: Turn,
    /// The end of the turn's log, if the claim has also taken over the log.
    pub log_at: Option<Seq>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GrantedExecution {
    pub claim: ExecutionClaim,
    pub execution: Execution,
}

impl GrantedTurn {
    /// The claim of the worker that holds the turn, under the fence of its row.
    pub fn new(turn: Turn, worker: WorkerId, log_at: Option<Seq>) -> Self {
        let (turn_id, session_id) = (turn.id.clone(), turn.session_id.clone());
        let claim = TurnClaim { turn_id, session_id, fence: turn.fence, worker };
        Self { claim, turn, log_at }
    }
}

impl GrantedExecution {
    /// The claim of the worker that holds the execution, under the fence of its row.
    pub fn new(execution: Execution, worker: WorkerId) -> Self {
        let execution_id = execution.id.clone();
        let claim = ExecutionClaim { execution_id, fence: execution.fence, worker };
        Self { claim, execution }
    }
}

impl JobClaimed {
    /// The claim, if one was granted.
    pub fn claim(&self) -> Option<JobClaim> {
        match self {
            Self::Turn(granted) => Some((&granted.claim).into()),
            Self::Execution(granted) => Some((&granted.claim).into()),
            Self::Held | Self::NotReady | Self::AtLimit | Self::Ended => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseRenewal {
    Held { stop_requested: bool },
    Lost,
}
