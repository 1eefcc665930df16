//! Laws of `Bus`, which promises almost nothing.

use ports::BusSignal;
use protocol::{ExecutionId, Job, TurnId};

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
        bus.publish(BusSignal::Moved(ExecutionId::from("e")));
    }
}

pub async fn only_what_was_published_is_heard(fixture: &mut impl Fixture) {
    let bus = &fixture.ports().bus;
    let (turn, execution) = (Job::from(TurnId::from("a")), Job::from(ExecutionId::from("a")));
    bus.publish(BusSignal::Ended(turn.clone()));
    let mut hearing = bus.subscribe();
    let published = [
        BusSignal::Cancel(turn),
        BusSignal::Moved("a".into()),
        BusSignal::Cancel(execution.clone()),
        BusSignal::Ended(execution),
    ];
    published.iter().for_each(|signal| bus.publish(signal.clone()));
    let mut expected = published.into_iter();
    // Some or all may be lost, but what comes, comes in order, and nothing else comes.
    while let Ok(signal) = hearing.try_recv() {
        assert!(expected.any(|published| published == signal), "{signal:?}");
    }
}
