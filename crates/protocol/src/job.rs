//! A job: a turn or an execution, as the queue and the leases see it.

use std::fmt;

use crate::execution::ExecutionClaim;
use crate::ids::{ExecutionId, TurnId};
use crate::turn::TurnClaim;

/// Prefix of an execution id in the text form of a job. A turn has no prefix.
const EXECUTION: &str = "execution:";

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Job {
    Turn(TurnId),
    Execution(ExecutionId),
}

impl Job {
    /// The id, without the kind.
    pub fn id(&self) -> &str {
        match self {
            Self::Turn(id) => id.as_str(),
            Self::Execution(id) => id.as_str(),
        }
    }

    /// The reverse of `to_string`.
    pub fn parse(text: &str) -> Self {
        match text.strip_prefix(EXECUTION) {
            Some(id) => Self::Execution(id.into()),
            None => Self::Turn(text.into()),
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(id) => id.fmt(f),
            Self::Execution(id) => write!(f, "{EXECUTION}{id}"),
        }
    }
}

impl From<TurnId> for Job {
    fn from(id: TurnId) -> Self {
        Self::Turn(id)
    }
}

impl From<&TurnId> for Job {
    fn from(id: &TurnId) -> Self {
        Self::Turn(id.clone())
    }
}

impl From<ExecutionId> for Job {
    fn from(id: ExecutionId) -> Self {
        Self::Execution(id)
    }
}

impl From<&ExecutionId> for Job {
    fn from(id: &ExecutionId) -> Self {
        Self::Execution(id.clone())
    }
}

/// The right to act for a job. It becomes invalid when the job is claimed again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobClaim {
    pub job: Job,
    pub fence: u64,
}

impl From<&TurnClaim> for JobClaim {
    fn from(claim: &TurnClaim) -> Self {
        Self { job: (&claim.turn_id).into(), fence: claim.fence }
    }
}

impl From<&ExecutionClaim> for JobClaim {
    fn from(claim: &ExecutionClaim) -> Self {
        Self { job: (&claim.execution_id).into(), fence: claim.fence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_survives_a_round_trip() {
        for job in [Job::from(TurnId::fresh()), Job::from(ExecutionId::fresh())] {
            assert_eq!(Job::parse(&job.to_string()), job);
        }
    }
}
