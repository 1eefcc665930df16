//! Waiting, for the tools that wait: default and maximum duration, and ending with the cancel of the call.

use std::time::Duration;

use ports::tool::ToolError;
use tokio_util::sync::CancellationToken;

/// Seconds to wait when the argument is not given.
pub(crate) const DEFAULT_SECONDS: i64 = 60;

pub(crate) fn default_seconds() -> i64 {
    DEFAULT_SECONDS
}

/// Limits the requested wait to `most`. An error would only cost the model a step.
pub(crate) fn clamped(seconds: i64, most: Duration) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).min(most)
}

/// Ends the wait when the call is canceled. The awaited work is not affected.
pub(crate) async fn unless_cancelled<T>(
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
    fn a_wait_is_limited_to_zero_and_the_maximum() {
        let most = Duration::from_secs(300);
        for (asked, expected) in [(i64::MIN, 0), (-1, 0), (0, 0), (60, 60), (301, 300)] {
            assert_eq!(clamped(asked, most), Duration::from_secs(expected), "{asked}");
        }
        assert_eq!(clamped(i64::MAX, most), most);
    }
}
