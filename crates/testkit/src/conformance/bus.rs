//! Laws of `Bus`, which guarantees no delivery.

use ports::BusSignal;
use protocol::{ExecutionId, Job, TurnId};

use super::BackendFixture;

#[macro_export]
macro_rules! bus_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, bus:
            publishing_never_waits,
            only_published_signals_are_received,
        );
    };
}

pub async fn publishing_never_waits(fixture: &mut impl BackendFixture) {
    let bus = &fixture.ports().bus;
    let _nobody_reads_this = bus.subscribe();
    for _ in 0..100_000 {
        bus.publish(BusSignal::Moved(ExecutionId::from("e")));
    }
}

pub async fn only_published_signals_are_received(fixture: &mut impl BackendFixture) {
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
    // Some or all signals may be lost; those that arrive are in order, and no others arrive.
    while let Ok(signal) = hearing.try_recv() {
        assert!(expected.any(|published| published == signal), "{signal:?}");
    }
}
