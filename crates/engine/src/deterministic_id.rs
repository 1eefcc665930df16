//! Ids derived from the idempotency key of a call, so that a call repeated after a crash finds what it created before
//! instead of creating it twice.

use protocol::BackgroundId;
use protocol::digest_uuid::digest_uuid;
use protocol::text::hex;
use sha2::{Digest, Sha256};

/// An id in UUID format.
pub(crate) fn uuid(what: &str, key: &str) -> String {
    digest_uuid(&digest(what, key))
}

pub(crate) fn background_id(key: &str) -> BackgroundId {
    BackgroundId(format!("bg-{}", hex(&digest("background", key)[..6])))
}

fn digest(what: &str, key: &str) -> Vec<u8> {
    Sha256::digest(format!("{what}\n{key}").as_bytes()).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_key_gives_the_same_id_and_each_kind_a_different_one() {
        assert_eq!(uuid("turn", "t/1/c"), uuid("turn", "t/1/c"));
        assert_ne!(uuid("turn", "t/1/c"), uuid("session", "t/1/c"));
        assert_ne!(uuid("turn", "t/1/c"), uuid("turn", "t/1/d"));
        assert_eq!(uuid("turn", "t").len(), 36);
        assert_eq!(background_id("t/1/c").as_str().len(), "bg-".len() + 12);
    }
}
