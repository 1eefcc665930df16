//! All of an advance in a few bytes, by which the last one is recognised when it comes again.

use ports::store::ExecutionAdvance;
use sha2::{Digest, Sha256};

pub(crate) fn fingerprint(advance: &ExecutionAdvance) -> Vec<u8> {
    let ExecutionAdvance { after, events, count, charges, reviews, stats, then } = advance;
    let mut hash = Sha256::default();
    hash.update(after.to_le_bytes());
    hash.update(count.to_le_bytes());
    hash.update((events.len() as u64).to_le_bytes());
    hash.update(events);
    // These are small, and what they look like when printed says all that is in them.
    hash.update(format!("{charges:?} {reviews:?} {stats:?} {then:?}"));
    hash.finalize().to_vec()
}
