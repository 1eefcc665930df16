//! Advances of executions: which are valid, and which repeat the last one.

use ports::Fenced;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::execution::ExecutionStatus;
use sha2::{Digest, Sha256};

use super::error::CheckError;
use super::fenced_writes::count_fenced;

pub(crate) fn check_advance(advance: &ExecutionAdvance) -> Result<(), CheckError> {
    if (advance.count == 0) != advance.events.is_empty() {
        return Err(CheckError::new("the event count does not match the events"));
    }
    match advance.then {
        AfterAdvance::End { status, .. } if !status.is_final() => {
            Err(CheckError::new(format!("{} is not a final execution status", status.as_str())))
        }
        _ => Ok(()),
    }
}

/// Digest of an advance, which identifies a repetition of the last one.
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

/// What an execution says about the last advance under the current fence.
pub(crate) struct LastAdvance {
    pub(crate) status: ExecutionStatus,
    pub(crate) events: u64,
    pub(crate) fingerprint: Option<Vec<u8>>,
    /// Its reviews had been decided already, so that it did not rest.
    pub(crate) decided: bool,
}

/// The reply to an advance that was not written: the one it had before, or the reason. `last` is `None` when the claim
/// is stale.
pub(crate) fn reply_to_repeated(
    last: Option<LastAdvance>,
    advance: &ExecutionAdvance,
    fingerprint: &[u8],
) -> Result<Fenced<ExecutionAdvanced>, CheckError> {
    let Some(last) = last else {
        count_fenced();
        return Ok(Fenced::Stale);
    };
    if last.fingerprint.as_deref() == Some(fingerprint) {
        let reply = if last.decided { ExecutionAdvanced::Decided } else { ExecutionAdvanced::Done };
        return Ok(Fenced::Done(reply));
    }
    if last.status != ExecutionStatus::Running {
        count_fenced();
        return Ok(Fenced::Stale);
    }
    let (after, events) = (advance.after, last.events);
    Err(CheckError::new(format!("an advance after {after} events, but the journal has {events}")))
}
