//! A server that the processes depend on fails while many turns run, and is repaired. Nothing that was accepted is
//! lost, no text is sent twice, no stream is closed without its end, and no process needs a restart.

mod concurrent_turns;
mod expired_stream;
mod invalid_messages;
mod outage_cluster;
mod postgres;
mod provider;
mod rabbitmq;
mod readiness;
mod redis;
mod total_outage;
mod turn_client;
mod turn_guarantees;
mod without_wake_ups;

use std::time::Duration;

/// The longest pause of a stream while Redis or RabbitMQ, which only carry notifications, is away. Every second the
/// store is asked for the ends of the logs that received nothing since the last query, so it is two seconds for a log
/// that has just grown; a Redis call then times out after half a second. The rest is for a loaded machine.
const DELAYED_AT_MOST: Duration = Duration::from_millis(3500);

/// Prints a measured value into the output of the test.
#[expect(clippy::disallowed_macros, reason = "a test reports what it has measured")]
fn measured(what: &str, value: impl std::fmt::Debug) {
    eprintln!("measured: {what}: {value:?}");
}
