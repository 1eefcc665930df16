//! Writes under a stale fence, which change nothing.

use ports::Fenced;

/// Counts a write under a stale fence. Many of them mean that workers lose their leases.
pub(crate) fn count_fenced() {
    metrics::counter!("pilothouse_fenced_writes_total").increment(1);
}

/// `None` means that the claim was stale.
pub(crate) fn fenced<T>(done: Option<T>) -> Fenced<T> {
    if done.is_none() {
        count_fenced();
    }
    done.map_or(Fenced::Stale, Fenced::Done)
}
