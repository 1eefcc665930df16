//! What tools that wait have in common: how long, and that nobody waits longer than the turn goes on.

use std::time::Duration;

use ports::tool::ToolError;
use tokio_util::sync::CancellationToken;

/// Seconds to wait when the model does not say.
pub(super) const DEFAULT_SECONDS: i64 = 60;

pub(super) fn default_seconds() -> i64 {
    DEFAULT_SECONDS
}

/// A model that asks for too much gets the most there is: an error would only cost it a step.
pub(super) fn clamped(seconds: i64, most: Duration) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).min(most)
}

/// What is waited for goes on by itself or ends with its own turn; only the wait is given up.
pub(super) async fn unless_cancelled<T>(
    cancel: &CancellationToken,
    wait: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    tokio::select! {
        waited = wait => waited,
        () = cancel.cancelled() => Err(ToolError::tell("cancelled", "The wait was canceled.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_stays_between_nothing_and_the_most() {
        let most = Duration::from_secs(300);
        for (asked, expected) in [(i64::MIN, 0), (-1, 0), (0, 0), (60, 60), (301, 300)] {
            assert_eq!(clamped(asked, most), Duration::from_secs(expected), "{asked}");
        }
        assert_eq!(clamped(i64::MAX, most), most);
    }
}
