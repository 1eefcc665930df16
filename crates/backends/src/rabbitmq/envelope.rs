//! The broker's message format: a job id in versioned JSON. Unknown fields are ignored, so that newer processes may
//! add some; an unreadable message yields a reason.

use protocol::Job;
use serde::{Deserialize, Serialize};

const VERSION: u64 = 1;
/// About ten times the size of our messages.
const MAX_BYTES: usize = 1024;

/// The field is called `turn_id` because originally every job was a turn, whose text form is its bare id: messages of
/// that time can still be read.
#[derive(Serialize)]
struct OutgoingEnvelope {
    v: u64,
    turn_id: String,
}

#[derive(Deserialize)]
struct EnvelopeVersion {
    v: u64,
}

#[derive(Deserialize)]
struct IncomingEnvelope {
    turn_id: String,
}

/// Why a message can never be processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnvelopeError {
    Oversized,
    Malformed,
    UnknownVersion,
}

pub(crate) fn write(job: &Job) -> Vec<u8> {
    serde_json::to_vec(&OutgoingEnvelope { v: VERSION, turn_id: job.to_string() })
        .expect("a number and a string can always be written as JSON")
}

pub(crate) fn read(payload: &[u8]) -> Result<Job, EnvelopeError> {
    if payload.len() > MAX_BYTES {
        return Err(EnvelopeError::Oversized);
    }
    // The version is read first, because the other fields depend on it.
    let version: EnvelopeVersion =
        serde_json::from_slice(payload).map_err(|_| EnvelopeError::Malformed)?;
    if version.v != VERSION {
        return Err(EnvelopeError::UnknownVersion);
    }
    match serde_json::from_slice(payload) {
        Ok(IncomingEnvelope { turn_id }) if !turn_id.is_empty() => Ok(Job::parse(&turn_id)),
        _ => Err(EnvelopeError::Malformed),
    }
}

impl EnvelopeError {
    pub(crate) fn reason_label(self) -> &'static str {
        match self {
            Self::Oversized => "oversized",
            Self::Malformed => "malformed",
            Self::UnknownVersion => "unknown_version",
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::{ExecutionId, TurnId};

    use super::*;

    #[test]
    fn a_written_job_can_be_read() {
        for job in [Job::from(TurnId::fresh()), Job::from(ExecutionId::fresh())] {
            assert_eq!(read(&write(&job)), Ok(job));
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_each_fault_has_its_reason() {
        let job = |payload: &str| read(payload.as_bytes());
        assert_eq!(job(r#"{"v":1,"turn_id":"a","later":[{}]}"#), Ok(Job::Turn("a".into())));
        assert_eq!(job(r#"{"v":2,"turn":7}"#), Err(EnvelopeError::UnknownVersion));
        for malformed in ["", "{", "[]", "null", "{}", r#"{"v":1}"#, r#"{"v":1,"turn_id":""}"#] {
            assert_eq!(job(malformed), Err(EnvelopeError::Malformed), "{malformed}");
        }
        let long = format!(r#"{{"v":1,"turn_id":"{}"}}"#, "a".repeat(MAX_BYTES));
        assert_eq!(job(&long), Err(EnvelopeError::Oversized));
    }
}
