//! Ids derived from the idempotency key of a call, so that a call repeated after a crash finds what it created before
//! instead of creating it twice.

use protocol::BackgroundId;
use protocol::text::hex;
use sha2::{Digest, Sha256};

/// An id in UUID format (version 8: custom).
pub(crate) fn uuid(what: &str, key: &str) -> String {
    let mut bytes = [0_u8; 16];
    bytes.copy_from_slice(&digest(what, key)[..16]);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits = hex(&bytes);
    let group = |range| &digits[range];
    [group(0..8), group(8..12), group(12..16), group(16..20), group(20..32)].join("-")
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
