//! What travels through the broker: the name of a job, in versioned JSON. Fields we do not know are ignored, so that a
//! newer process may add some; a message we cannot read says why.

use protocol::Job;
use serde::{Deserialize, Serialize};

const VERSION: u64 = 1;
/// A message of ours has a tenth of this.
const LARGEST: usize = 1024;

/// The field has its name from the time when every job was a turn, whose text form is its bare id: what was sent then can
/// still be read.
#[derive(Serialize)]
struct Outgoing {
    v: u64,
    turn_id: String,
}

#[derive(Deserialize)]
struct Version {
    v: u64,
}

#[derive(Deserialize)]
struct Incoming {
    turn_id: String,
}

/// Why a message can never be worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    Oversized,
    Malformed,
    UnknownVersion,
}

pub(super) fn write(job: &Job) -> Vec<u8> {
    serde_json::to_vec(&Outgoing { v: VERSION, turn_id: job.to_string() })
        .expect("a number and a string can always be written as JSON")
}

pub(super) fn read(payload: &[u8]) -> Result<Job, Unreadable> {
    if payload.len() > LARGEST {
        return Err(Unreadable::Oversized);
    }
    // The version is read first: of another version we cannot say what else belongs in it.
    let version: Version = serde_json::from_slice(payload).map_err(|_| Unreadable::Malformed)?;
    if version.v != VERSION {
        return Err(Unreadable::UnknownVersion);
    }
    match serde_json::from_slice(payload) {
        Ok(Incoming { turn_id }) if !turn_id.is_empty() => Ok(Job::parse(&turn_id)),
        _ => Err(Unreadable::Malformed),
    }
}

impl Unreadable {
    pub(super) fn word(self) -> &'static str {
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
    fn what_was_written_can_be_read() {
        for job in [Job::from(TurnId::fresh()), Job::from(ExecutionId::fresh())] {
            assert_eq!(read(&write(&job)), Ok(job));
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_anything_else_has_its_reason() {
        let job = |payload: &str| read(payload.as_bytes());
        assert_eq!(job(r#"{"v":1,"turn_id":"a","later":[{}]}"#), Ok(Job::Turn("a".into())));
        assert_eq!(job(r#"{"v":2,"turn":7}"#), Err(Unreadable::UnknownVersion));
        for malformed in ["", "{", "[]", "null", "{}", r#"{"v":1}"#, r#"{"v":1,"turn_id":""}"#] {
            assert_eq!(job(malformed), Err(Unreadable::Malformed), "{malformed}");
        }
        let long = format!(r#"{{"v":1,"turn_id":"{}"}}"#, "a".repeat(LARGEST));
        assert_eq!(job(&long), Err(Unreadable::Oversized));
    }
}
