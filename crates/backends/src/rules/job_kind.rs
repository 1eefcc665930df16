//! What differs between turns and executions.

use protocol::Job;

/// The value for the kind of this job.
pub(crate) const fn of_kind<'a, T>(job: &Job, turn: &'a T, execution: &'a T) -> &'a T {
    match job {
        Job::Turn(_) => turn,
        Job::Execution(_) => execution,
    }
}
