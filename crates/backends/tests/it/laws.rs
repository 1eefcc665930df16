//! Every law, once with wake-ups and once without: hints may change latency and nothing else.

mod listening {
    use testkit::conformance;

    use crate::fixture::Embedded as Fixture;

    conformance::api_keys!(Fixture);
    conformance::bus!(Fixture);
    conformance::files!(Fixture);
    conformance::leases!(Fixture);
    conformance::messages!(Fixture);
    conformance::outbox!(Fixture);
    conformance::places!(Fixture);
    conformance::queue!(Fixture);
    conformance::regenerate!(Fixture);
    conformance::sessions!(Fixture);
    conformance::stream_log!(Fixture);
    conformance::turns!(Fixture);
}

mod deaf {
    use testkit::conformance;

    use crate::fixture::Deaf as Fixture;

    conformance::bus!(Fixture);
    conformance::leases!(Fixture);
    conformance::outbox!(Fixture);
    conformance::places!(Fixture);
    conformance::queue!(Fixture);
    conformance::sessions!(Fixture);
    conformance::stream_log!(Fixture);
    conformance::turns!(Fixture);
}
