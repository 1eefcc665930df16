//! The machine's wall clock.

use jiff::Timestamp;
use ports::Clock;

pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the implementation of the clock port")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
