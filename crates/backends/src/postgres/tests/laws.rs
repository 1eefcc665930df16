//! All conformance laws of the ports that the database serves.

use testkit::conformance;

use super::fixture::Shared as Fixture;

conformance::agents!(Fixture);
conformance::api_keys!(Fixture);
conformance::background_calls!(Fixture);
conformance::child_turns!(Fixture);
conformance::follow_ups!(Fixture);
conformance::leases!(Fixture);
conformance::messages!(Fixture);
conformance::operations!(Fixture);
conformance::outbox!(Fixture);
conformance::permits!(Fixture);
conformance::regenerate!(Fixture);
conformance::reports!(Fixture);
conformance::sessions!(Fixture);
conformance::stream_log!(Fixture);
conformance::turn_ends!(Fixture);
conformance::turn_journal!(Fixture);
conformance::turns!(Fixture);
