//! The wall-clock time, for people. Durations are measured with `Instant`; no decision compares two wall-clock times, so a
//! clock that jumps only changes timestamps.

use jiff::Timestamp;

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}
