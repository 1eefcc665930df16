//! A server that the others depend on fails while many turns are being answered, and is healed. Nothing that was
//! accepted is lost, nothing is said twice, no stream has a false end, and no process has to be started again.

mod crowd;
mod deaf;
mod everything;
mod expired;
mod listener;
mod poison;
mod postgres;
mod provider;
mod rabbitmq;
mod readiness;
mod redis;
mod stage;
mod verdict;

use std::time::Duration;

/// The longest that a stream may be quiet while a server is away that only brings news. The store is asked every second
/// where the logs end that were quiet since it was last asked, so it is two seconds for one that has just grown; then
/// Redis is waited for half a second. The rest is for a machine that is busy.
const NEWS_WITHIN: Duration = Duration::from_millis(3500);

/// Numbers for whoever reads what a test said.
#[expect(clippy::disallowed_macros, reason = "a test reports what it has measured")]
fn measured(what: &str, value: impl std::fmt::Debug) {
    eprintln!("measured: {what}: {value:?}");
}
