//! Ids derived from names, so that the same spec always compiles to the same bytes.

use protocol::digest_uuid::digest_uuid;
use sha2::{Digest, Sha256};

/// An id in UUID format, from what it identifies.
pub(crate) fn derived_id(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    digest_uuid(&digest.finalize())
}
