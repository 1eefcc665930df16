//! All conformance laws, once with wake-ups and once without: hints may only change latency.

mod listening {
    use crate::fixture::Embedded as Fixture;

    testkit::conformance::all!(Fixture);
}

mod deaf {
    use testkit::conformance::WithoutWakeups;

    use crate::fixture::Embedded;

    testkit::conformance::agents!(WithoutWakeups<Embedded>);
    testkit::conformance::engine!(WithoutWakeups<Embedded>);
}
