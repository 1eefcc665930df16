//! Whether a worker may claim a job, judged by the row of the job.

use ports::leases::JobClaimed;
use protocol::WorkerId;
use protocol::execution::ExecutionStatus;
use protocol::text_enum::TextEnum;
use protocol::turn::TurnStatus;

use crate::rows::StoreRow;

/// The status of a job, as far as a claim is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum JobPhase {
    Queued,
    Running,
    /// A review must be decided first.
    InReview,
    Ended,
}

impl From<TurnStatus> for JobPhase {
    fn from(status: TurnStatus) -> Self {
        match status {
            TurnStatus::Queued => Self::Queued,
            TurnStatus::Running => Self::Running,
            TurnStatus::Completed | TurnStatus::Failed | TurnStatus::Cancelled => Self::Ended,
        }
    }
}

impl From<ExecutionStatus> for JobPhase {
    fn from(status: ExecutionStatus) -> Self {
        match status {
            ExecutionStatus::Queued | ExecutionStatus::Incomplete => Self::Queued,
            ExecutionStatus::Running => Self::Running,
            ExecutionStatus::Review => Self::InReview,
            ExecutionStatus::Completed | ExecutionStatus::Failed | ExecutionStatus::Terminated => {
                Self::Ended
            }
        }
    }
}

/// What the row of a job says to a worker that wants it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClaimCheck {
    /// It waits for a worker.
    Free,
    /// Its holder was lost.
    Expired,
    /// This worker holds it already: the reply to its first claim was lost.
    Repeated,
    Refused(JobClaimed),
}

impl ClaimCheck {
    /// From the columns `status`, `worker` and `is_held`, which says that the lease has not expired. `S` is the status
    /// of the kind of job.
    pub(crate) fn read<S, R>(row: &R, worker: &WorkerId) -> Result<Self, R::Error>
    where
        S: TextEnum + Into<JobPhase>,
        R: StoreRow,
    {
        let phase = row.word::<S>("status")?.into();
        let is_held = row.optional_flag("is_held")? == Some(true);
        Ok(Self::of(phase, is_held, row.optional_str("worker")?, worker))
    }

    fn of(phase: JobPhase, is_held: bool, holder: Option<&str>, worker: &WorkerId) -> Self {
        match phase {
            JobPhase::Running if is_held && holder == Some(worker.as_str()) => Self::Repeated,
            JobPhase::Running if is_held => Self::Refused(JobClaimed::Held),
            JobPhase::Running => Self::Expired,
            JobPhase::Queued => Self::Free,
            JobPhase::InReview => Self::Refused(JobClaimed::NotReady),
            JobPhase::Ended => Self::Refused(JobClaimed::Ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_can_be_claimed_unless_it_is_held_in_review_or_ended() {
        let me = WorkerId::fresh();
        let check = |phase, is_held, holder| ClaimCheck::of(phase, is_held, holder, &me);
        assert_eq!(check(JobPhase::Queued, false, None), ClaimCheck::Free);
        assert_eq!(check(JobPhase::Running, false, Some("other")), ClaimCheck::Expired);
        assert_eq!(check(JobPhase::Running, true, Some(me.as_str())), ClaimCheck::Repeated);
        for (phase, refusal) in [
            (JobPhase::Running, JobClaimed::Held),
            (JobPhase::InReview, JobClaimed::NotReady),
            (JobPhase::Ended, JobClaimed::Ended),
        ] {
            assert_eq!(check(phase, true, Some("other")), ClaimCheck::Refused(refusal));
        }
    }
}
