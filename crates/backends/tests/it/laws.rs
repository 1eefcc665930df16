//! All conformance laws, once with wake-ups and once without: hints may only change latency.

mod listening {
    use crate::fixture::Embedded as Fixture;

    testkit::conformance::all!(Fixture);
}

mod deaf {
    use testkit::conformance::Deaf;

    use crate::fixture::Embedded;

    testkit::conformance::agents!(Deaf<Embedded>);
    testkit::conformance::engine!(Deaf<Embedded>);
}
