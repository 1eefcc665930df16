//! What travels through the broker: the id of a turn, in versioned JSON. Fields we do not know are ignored, so that a
//! newer process may add some; a message we cannot read says why.

use protocol::TurnId;
use serde::{Deserialize, Serialize};

const VERSION: u64 = 1;
/// A message of ours has a tenth of this.
const LARGEST: usize = 1024;

#[derive(Serialize)]
struct Outgoing<'a> {
    v: u64,
    turn_id: &'a str,
}

#[derive(Deserialize)]
struct Version {
    v: u64,
}

#[derive(Deserialize)]
struct Incoming {
    turn_id: TurnId,
}

/// Why a message can never be worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    Oversized,
    Malformed,
    UnknownVersion,
}

pub(super) fn write(turn: &TurnId) -> Vec<u8> {
    serde_json::to_vec(&Outgoing { v: VERSION, turn_id: turn.as_str() })
        .expect("a number and a string can always be written as JSON")
}

pub(super) fn read(payload: &[u8]) -> Result<TurnId, Unreadable> {
    if payload.len() > LARGEST {
        return Err(Unreadable::Oversized);
    }
    // The version is read first: of another version we cannot say what else belongs in it.
    let version: Version = serde_json::from_slice(payload).map_err(|_| Unreadable::Malformed)?;
    if version.v != VERSION {
        return Err(Unreadable::UnknownVersion);
    }
    match serde_json::from_slice(payload) {
        Ok(Incoming { turn_id }) if !turn_id.as_str().is_empty() => Ok(turn_id),
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
    use super::*;

    #[test]
    fn what_was_written_can_be_read() {
        let turn = TurnId::fresh();
        assert_eq!(read(&write(&turn)), Ok(turn));
    }

    #[test]
    fn unknown_fields_are_ignored_and_anything_else_has_its_reason() {
        let turn = |payload: &str| read(payload.as_bytes());
        assert_eq!(turn(r#"{"v":1,"turn_id":"a","later":[{}]}"#), Ok("a".into()));
        assert_eq!(turn(r#"{"v":2,"turn":7}"#), Err(Unreadable::UnknownVersion));
        for malformed in ["", "{", "[]", "null", "{}", r#"{"v":1}"#, r#"{"v":1,"turn_id":""}"#] {
            assert_eq!(turn(malformed), Err(Unreadable::Malformed), "{malformed}");
        }
        let long = format!(r#"{{"v":1,"turn_id":"{}"}}"#, "a".repeat(LARGEST));
        assert_eq!(turn(&long), Err(Unreadable::Oversized));
    }
}
