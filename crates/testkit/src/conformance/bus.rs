//! Laws of `Bus`, which promises almost nothing.

use ports::Signal;
use protocol::TurnId;

use super::Fixture;

#[macro_export]
macro_rules! bus_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, bus:
            publishing_never_waits,
            only_what_was_published_is_heard,
        );
    };
}

pub async fn publishing_never_waits(fixture: &mut impl Fixture) {
    let bus = &fixture.ports().bus;
    let _nobody_reads_this = bus.subscribe();
    for _ in 0..100_000 {
        bus.publish(Signal::Ended(TurnId::from("t")));
    }
}

pub async fn only_what_was_published_is_heard(fixture: &mut impl Fixture) {
    let bus = &fixture.ports().bus;
    bus.publish(Signal::Ended("before".into()));
    let mut hearing = bus.subscribe();
    bus.publish(Signal::Cancel("a".into()));
    bus.publish(Signal::Ended("b".into()));
    let mut expected = [Signal::Cancel("a".into()), Signal::Ended("b".into())].into_iter();
    // Some or all may be lost, but what comes, comes in order, and nothing else comes.
    while let Ok(signal) = hearing.try_recv() {
        assert!(expected.any(|published| published == signal), "{signal:?}");
    }
}
