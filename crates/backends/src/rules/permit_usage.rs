//! Current use of a quota key.

use protocol::limits::UserLimits;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PermitUsage {
    /// Turns that have not ended, without operations outside the order of their session.
    pub(crate) in_flight: u64,
    /// Turns that hold a concurrency permit.
    pub(crate) permits: u64,
}

impl PermitUsage {
    pub(crate) fn has_free_permit(&self, caps: UserLimits) -> bool {
        self.permits < u64::from(caps.running)
    }
}
