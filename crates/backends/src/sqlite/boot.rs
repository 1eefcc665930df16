//! The clock that leases and due times are judged by: how long this process has been running.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Boot {
    /// Counts the times this database was opened, to tell this process's times from those of others.
    pub(crate) number: i64,
    started: Instant,
}

impl Boot {
    pub(crate) fn new(number: i64) -> Self {
        Self { number, started: Instant::now() }
    }

    pub(crate) fn ms(&self) -> i64 {
        millis(self.started.elapsed())
    }
}

/// Milliseconds as a column holds them; a duration beyond all sense becomes a very long one.
pub(crate) fn millis(duration: Duration) -> i64 {
    // Halved so that adding it to a time cannot overflow either.
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).min(i64::MAX / 2)
}
