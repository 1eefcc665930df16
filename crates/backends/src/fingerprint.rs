//! Digest of an advance, which identifies a repetition of the last one.

use ports::store::ExecutionAdvance;
use sha2::{Digest, Sha256};

pub(crate) fn fingerprint(advance: &ExecutionAdvance) -> Vec<u8> {
    let ExecutionAdvance { after, events, count, charges, reviews, stats, then } = advance;
    let mut hash = Sha256::default();
    hash.update(after.to_le_bytes());
    hash.update(count.to_le_bytes());
    hash.update((events.len() as u64).to_le_bytes());
    hash.update(events);
    // These are small, and their debug output contains all their fields.
    hash.update(format!("{charges:?} {reviews:?} {stats:?} {then:?}"));
    hash.finalize().to_vec()
}
