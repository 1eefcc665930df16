//! Jobs to push to the queue.

use std::time::Duration;

use async_trait::async_trait;
use protocol::Job;

use crate::error::PortResult;

/// An entry is written with the change that causes it, so it cannot be lost; a claim removes it.
///
/// Laws, for turns and executions alike: a new job is due after its grace (`a_new_job_is_due_after_its_grace`), for one
/// caller at a time (`a_due_job_is_given_to_one_caller`), and again when its push was lost (`a_lost_push_is_due_again`); a
/// claimed job is not due (`a_claimed_job_is_not_due`) until its lease has expired
/// (`a_job_with_an_expired_lease_is_due`); a turn that waits for another is not due
/// (`a_turn_that_waits_for_another_is_not_due`); open jobs are due after a restart (`open_jobs_are_due_after_a_restart`);
/// the lag is the age of the oldest entry (`the_lag_is_the_age_of_the_oldest_due_job`).
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Jobs that should be claimed: accepted, handed back, admitted, or with an expired lease. Turns first, each kind with
    /// the oldest first. Other callers do not get them before `hold` has passed, so that only one of several relays pushes
    /// each.
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<Job>>;

    /// Records that they were pushed; they become due again if they are not claimed within `again_in`.
    async fn pushed(&self, jobs: &[Job], again_in: Duration) -> PortResult<()>;

    /// The number of entries to push, and the age of the oldest.
    async fn lag(&self) -> PortResult<(u64, Duration)>;
}
