//! The conformance suite of the ports. A law is a test function for one promise of a port, which every backend must
//! pass. A backend's test file consists of a fixture and one line, which generates one test per law:
//!
//! ```ignore
//! testkit::conformance::all!(MyFixture);
//! ```

pub mod agent_scene;
pub mod api_keys;
pub mod background_calls;
pub mod block_runs;
pub mod bus;
pub mod child_turns;
pub mod completions;
pub mod credits;
pub mod executions;
pub mod files;
pub mod follow_ups;
pub mod graphs;
pub mod job_scene;
pub mod leases;
pub mod library;
pub mod listings;
pub mod messages;
pub mod operations;
pub mod outbox;
pub mod permits;
pub mod queue;
pub mod regenerate;
pub mod reports;
pub mod reviews;
pub mod scene;
pub mod sessions;
pub mod stream_log;
pub mod turn_ends;
pub mod turn_journal;
pub mod turns;
pub mod values;
mod without_wakeups;

use std::future::Future;
use std::time::Duration;

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId, TurnId};

use self::job_scene::JobKind;
pub use self::without_wakeups::{StartWithoutWakeups, WithoutWakeups};
pub use crate::{
    agents_laws as agents, all_laws as all, api_keys_laws as api_keys,
    background_calls_laws as background_calls, block_runs_laws as block_runs, bus_laws as bus,
    child_turns_laws as child_turns, completions_laws as completions, credits_laws as credits,
    engine_laws as engine, executions_laws as executions, files_laws as files,
    follow_ups_laws as follow_ups, graphs_laws as graphs, leases_laws as leases,
    library_laws as library, listings_laws as listings, messages_laws as messages,
    operations_laws as operations, outbox_laws as outbox, permits_laws as permits,
    queue_laws as queue, regenerate_laws as regenerate, reports_laws as reports,
    reviews_laws as reviews, sessions_laws as sessions, stream_log_laws as stream_log,
    turn_ends_laws as turn_ends, turn_journal_laws as turn_journal, turns_laws as turns,
    values_laws as values,
};

/// Limits that are high enough for every law that does not test limits.
pub const GENEROUS: UserLimits =
    UserLimits { running: 1_000, in_flight: 10_000, executions: 1_000 };

/// Starts an empty, isolated backend for one law.
pub trait BackendFixture: Sized + Send + Sync {
    /// The kinds of jobs that the backend stores.
    const JOB_KINDS: &[JobKind] = &JobKind::ALL;

    fn start() -> impl Future<Output = Self> + Send {
        Self::start_with(GENEROUS)
    }
    fn start_with(caps: UserLimits) -> impl Future<Output = Self> + Send;
    fn ports(&self) -> &Ports;
    /// Closes the backend and opens it again on the same data, as a restarted process does.
    fn restart(&mut self) -> impl Future<Output = ()> + Send;
    /// Removes the beginning of a log up to and including `to`, as a backend that trims does.
    fn trim(&mut self, task: &TaskId, to: Seq) -> impl Future<Output = ()> + Send;
    /// Moves the timestamps of a turn into the past, for laws about days. Needed only by fixtures that run the laws of
    /// `reports`.
    fn backdate(&mut self, _: &TurnId, _: Duration) -> impl Future<Output = ()> + Send {
        async { unreachable!("only the laws of `reports` backdate turns") }
    }
}

/// All laws.
#[macro_export]
macro_rules! all_laws {
    ($fixture:ty) => {
        $crate::agents_laws!($fixture);
        $crate::api_keys_laws!($fixture);
        $crate::engine_laws!($fixture);
        $crate::files_laws!($fixture);
        $crate::reports_laws!($fixture);
    };
}

/// The laws of the ports for agents and their executions.
#[macro_export]
macro_rules! agents_laws {
    ($fixture:ty) => {
        $crate::block_runs_laws!($fixture);
        $crate::credits_laws!($fixture);
        $crate::executions_laws!($fixture);
        $crate::graphs_laws!($fixture);
        $crate::library_laws!($fixture);
        $crate::listings_laws!($fixture);
        $crate::reviews_laws!($fixture);
        $crate::values_laws!($fixture);
    };
}

/// The laws of the ports that the turn engine uses.
#[macro_export]
macro_rules! engine_laws {
    ($fixture:ty) => {
        $crate::bus_laws!($fixture);
        $crate::completions_laws!($fixture);
        $crate::follow_ups_laws!($fixture);
        $crate::leases_laws!($fixture);
        $crate::messages_laws!($fixture);
        $crate::operations_laws!($fixture);
        $crate::outbox_laws!($fixture);
        $crate::background_calls_laws!($fixture);
        $crate::permits_laws!($fixture);
        $crate::queue_laws!($fixture);
        $crate::regenerate_laws!($fixture);
        $crate::sessions_laws!($fixture);
        $crate::stream_log_laws!($fixture);
        $crate::child_turns_laws!($fixture);
        $crate::turn_ends_laws!($fixture);
        $crate::turn_journal_laws!($fixture);
        $crate::turns_laws!($fixture);
    };
}

/// One test per law, in a module named after the port.
#[macro_export]
macro_rules! laws {
    ($fixture:ty, $port:ident: $($law:ident),* $(,)?) => {
        mod $port {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $law() {
                    let law = async {
                        let mut fixture = <$fixture as $crate::conformance::BackendFixture>::start().await;
                        $crate::conformance::$port::$law(&mut fixture).await;
                    };
                    tokio::time::timeout($crate::conformance::scene::LAW, law)
                        .await
                        .expect("the law finishes within its time limit");
                }
            )*
        }
    };
}
