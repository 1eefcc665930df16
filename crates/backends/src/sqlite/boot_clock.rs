//! Clock for leases and due times: the time since this process opened the store.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(crate) struct BootClock {
    /// Counts how often this database was opened; distinguishes this process's times from those of earlier ones.
    pub(crate) number: i64,
    started: Instant,
}

impl BootClock {
    pub(crate) fn new(number: i64) -> Self {
        Self { number, started: Instant::now() }
    }

    pub(crate) fn ms(&self) -> i64 {
        millis(self.started.elapsed())
    }
}

/// Milliseconds as a column stores them; an absurdly long duration becomes a very long one.
pub(crate) fn millis(duration: Duration) -> i64 {
    // Halved so that adding it to a time cannot overflow either.
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).min(i64::MAX / 2)
}
