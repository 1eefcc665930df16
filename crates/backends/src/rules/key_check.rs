//! Checks that the encryption key is the one a store was first opened with. The store keeps only a salted digest, from
//! which the key cannot be recovered.

use protocol::secret::SecretText;
use protocol::text::hex;
use sha2::{Digest, Sha256};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyCheck {
    Right,
    Wrong,
    Missing,
    /// First use of a key: the store keeps this value for the next check.
    First(String),
}

/// Compares a key with the stored value.
pub(crate) fn check(stored: Option<&str>, key: Option<&SecretText>) -> KeyCheck {
    match (stored, key) {
        (None, None) => KeyCheck::Right,
        (Some(_), None) => KeyCheck::Missing,
        (Some(stored), Some(key)) => match stored.split_once(':') {
            Some((salt, digest)) if digest == digest_of(salt, key) => KeyCheck::Right,
            _ => KeyCheck::Wrong,
        },
        (None, Some(key)) => {
            let salt = uuid::Uuid::new_v4().simple().to_string();
            KeyCheck::First(format!("{salt}:{}", digest_of(&salt, key)))
        }
    }
}

fn digest_of(salt: &str, key: &SecretText) -> String {
    hex(&Sha256::digest(format!("pilothouse key check\n{salt}\n{}", key.expose())))
}
