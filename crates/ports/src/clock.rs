//! The time of day, for people. Durations are measured with `Instant`; nothing compares two times of
//! day to decide what to do, so a clock that jumps changes timestamps and nothing else.

use jiff::Timestamp;

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}
